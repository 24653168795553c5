#pragma once

// A simulated network: named servers, dialers of clients, and every way in which TCP can fail.
// Bytes of one connection arrive in order, late, in pieces of any size, or not at all.
//
// Thread rule: one thread. The world outlives the network, which outlives dialers and loops.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "socket/seam.h"
#include "tests/sim/kit/sim_loop.h"
#include "tests/sim/kit/sim_world.h"

namespace sheaf::sim {

// The faults of all connections to one server. They may be changed at any time.
struct LinkFaults {
  std::chrono::nanoseconds delay = std::chrono::microseconds(100);  // one way
  std::chrono::nanoseconds jitter{0};  // up to this much more; order is kept
  std::size_t window = 256 * 1024;     // bytes on the way or unread, each direction
  std::size_t max_piece = 0;           // a read gives 1 to this many bytes; 0: all there are
  double short_write = 0;              // chance that a write takes only part
  double reset = 0;                    // chance that a write ends in a reset
};

// The server's end of a connection, as its peer object sees it.
class SimConnection {
 public:
  // Takes what fits into the window. If that is not everything, SimPeer::on_writable follows.
  virtual std::size_t send(std::string_view bytes) = 0;
  virtual void end() = 0;    // orderly, after what was sent; the peer is not called again
  virtual void reset() = 0;  // at once

 protected:
  ~SimConnection() = default;
};

// Serves one connection. Ends it only through the connection; is destroyed when it has ended.
class SimPeer {
 public:
  virtual ~SimPeer() = default;
  // Takes bytes from the client and returns how many it took. The rest comes again after
  // on_writable.
  virtual std::size_t on_bytes(std::string_view bytes, Now now) = 0;
  virtual void on_writable(Now now) = 0;
  virtual void on_end(Now now) = 0;  // last call: the client is gone, for any reason
};

// The process that listens on a port. One object lives from start to crash.
class SimService {
 public:
  virtual ~SimService() = default;
  // Never null; the connection outlives the peer.
  virtual std::unique_ptr<SimPeer> accept(SimConnection& connection, Now now) = 0;
  virtual void tick(Now now) = 0;          // at next_tick(), and when a stopped process resumes
  virtual Deadline next_tick() const = 0;  // never: nothing to do
};

// Sits between a server and its clients: sees the bytes to one client and decides what to forward.
class SimMangler {
 public:
  // Forwards bytes after a delay of its own choice.
  using Emit = std::function<void(std::string bytes, std::chrono::nanoseconds delay)>;

  virtual ~SimMangler() = default;
  virtual void on_bytes(std::string_view bytes, const Emit& emit) = 0;
};

class SimLink;
class SimDial;

// A host and port with, at times, a process listening on it.
class SimServer {
 public:
  using Start = std::function<std::unique_ptr<SimService>(Now)>;
  using Mangle = std::function<std::unique_ptr<SimMangler>()>;

  SimServer(SimWorld& world, std::string name, Start start);
  ~SimServer();
  SimServer(const SimServer&) = delete;
  SimServer& operator=(const SimServer&) = delete;

  // kill -9: connections are reset, new ones are refused, and what the process knew is lost.
  void crash();
  void restart();  // a new process
  // SIGSTOP: the kernel keeps accepting connections and bytes; the process reads none.
  void stop();
  void go_on();
  // Cuts the machine off: bytes are lost in both directions, connections hang, and neither end is
  // notified.
  void cut_off();
  void reconnect();  // new connections work; those that lost bytes stay dead
  // The same for a limited time.
  void crash_for(std::chrono::nanoseconds time);
  void stop_for(std::chrono::nanoseconds time);
  void cut_off_for(std::chrono::nanoseconds time);
  // Resets every connection; the process lives.
  void reset_all();

  bool alive() const { return service_ != nullptr; }
  bool serving() const { return alive() && !stopped_ && !cut_off_; }
  SimService* service() { return service_.get(); }
  const std::string& name() const { return name_; }
  std::size_t connections() const { return links_.size(); }
  std::size_t accepted() const { return accepted_; }  // since the start
  // All attempts to connect and writes of clients since the start, received or not.
  std::uint64_t packets() const { return packets_; }
  // Writes of the client on one of connections(), counted from the oldest.
  std::uint64_t packets_on(std::size_t connection) const;

  LinkFaults faults;
  bool full = false;                         // accepts no more connections
  std::chrono::milliseconds wall_offset{0};  // of this server's clock
  Mangle mangle;                             // for connections accepted from now on; may be empty

 private:
  friend class SimLink;
  friend class SimDial;

  Now now() const;
  std::chrono::nanoseconds draw_delay();
  void serve_all();
  void touch();  // after a call of the service: asks when it wants its tick
  void forget(SimLink& link);

  SimWorld& world_;
  std::string name_;
  Start start_;
  std::unique_ptr<SimService> service_;
  bool stopped_ = false;
  bool cut_off_ = false;
  std::size_t accepted_ = 0;
  std::uint64_t packets_ = 0;
  Deadline tick_at_ = never;
  std::shared_ptr<bool> alive_token_ = std::make_shared<bool>(true);
  std::vector<std::shared_ptr<SimLink>> links_;
};

class SimNetwork {
 public:
  explicit SimNetwork(SimWorld& world) : world_(world) {}
  // Starts the server at once.
  SimServer& add_server(const std::string& host, std::uint16_t port, SimServer::Start start);
  SimServer* find(const std::string& name);
  SimWorld& world() { return world_; }
  // A dialer for the clients of one loop.
  std::unique_ptr<socket::Dialer> dialer(SimLoop& loop);

 private:
  SimWorld& world_;
  std::map<std::string, std::unique_ptr<SimServer>> servers_;
};

}  // namespace sheaf::sim
