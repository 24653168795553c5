#pragma once

// A simulated network: named servers, dialers of clients, and every way in which TCP disappoints.
// Bytes of one connection arrive in order, late, in pieces of any size, or not at all.
//
// Thread rule: one thread; the world outlives the network, the network outlives dialers and loops.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "socket/seam.h"
#include "tests/sim/kit/sim_loop.h"
#include "tests/sim/kit/sim_world.h"

namespace sheaf::sim {

// The faults of all connections to one server; may be changed at any time.
struct LinkFaults {
  std::chrono::nanoseconds delay = std::chrono::microseconds(100);  // one way
  std::chrono::nanoseconds jitter{0};  // up to this much more; order is kept
  std::size_t window = 256 * 1024;     // bytes on the way or unread, each direction
  std::size_t max_piece = 0;           // reads give 1 to this many bytes; 0: all there is
  double short_write = 0;              // chance that a write takes only a part
  double reset = 0;                    // chance that a write ends in a reset
};

// The server's end of a connection, as its peer object sees it.
class SimConnection {
 public:
  // Takes what fits into the window; less than all: SimPeer::on_writable follows.
  virtual std::size_t send(std::string_view bytes) = 0;
  virtual void end() = 0;    // orderly, after what was sent; no call of the peer follows
  virtual void reset() = 0;  // at once

 protected:
  ~SimConnection() = default;
};

// What serves one connection. Ends it by the connection only; is destroyed when it has ended.
class SimPeer {
 public:
  virtual ~SimPeer() = default;
  // Bytes from the client; returns how many it takes now. The rest comes again after on_writable.
  virtual std::size_t on_bytes(std::string_view bytes, Now now) = 0;
  virtual void on_writable(Now now) = 0;
  virtual void on_end(Now now) = 0;  // the client is gone, whatever the reason; last call
};

// The process behind a port. One object lives from start to crash.
class SimService {
 public:
  virtual ~SimService() = default;
  // Never null; the connection outlives the peer.
  virtual std::unique_ptr<SimPeer> accept(SimConnection& connection, Now now) = 0;
  virtual void tick(Now now) = 0;          // at next_tick(), and when a stopped process goes on
  virtual Deadline next_tick() const = 0;  // never: nothing to do
};

// Between a server and its clients: sees the bytes that go to one client and decides what to pass
// on.
class SimMangler {
 public:
  // Sends bytes on, after a delay of its own choice.
  using Emit = std::function<void(std::string bytes, std::chrono::nanoseconds delay)>;

  virtual ~SimMangler() = default;
  virtual void on_bytes(std::string_view bytes, const Emit& emit) = 0;
};

class SimLink;
class SimDial;

// A host and port with, at times, a process behind it.
class SimServer {
 public:
  using Start = std::function<std::unique_ptr<SimService>(Now)>;
  using Mangle = std::function<std::unique_ptr<SimMangler>()>;

  SimServer(SimWorld& world, std::string name, Start start);
  ~SimServer();
  SimServer(const SimServer&) = delete;
  SimServer& operator=(const SimServer&) = delete;

  // kill -9: connections end by reset, new ones are refused, what the process knew is lost.
  void crash();
  void restart();  // a new process
  // SIGSTOP: the kernel goes on accepting connections and bytes, nobody reads them.
  void stop();
  void go_on();
  // The machine is cut off: bytes vanish in both directions, connections hang, and neither end is
  // notified.
  void cut_off();
  void reconnect();  // new connections work; those that lost bytes stay dead without a word
  // The same for a while.
  void crash_for(std::chrono::nanoseconds time);
  void stop_for(std::chrono::nanoseconds time);
  void cut_off_for(std::chrono::nanoseconds time);
  // Ends every connection by reset; the process lives.
  void reset_all();

  bool alive() const { return service_ != nullptr; }
  bool serving() const { return alive() && !stopped_ && !cut_off_; }
  SimService* service() { return service_.get(); }
  const std::string& name() const { return name_; }
  std::size_t connections() const { return links_.size(); }
  std::size_t accepted() const { return accepted_; }  // ever
  // Attempts to connect and writes of clients, ever, whether or not anybody received them.
  std::uint64_t packets() const { return packets_; }
  // Writes of the client on one of connections(), the oldest first.
  std::uint64_t packets_on(std::size_t connection) const;

  LinkFaults faults;
  bool full = false;                         // takes no further connection
  std::chrono::milliseconds wall_offset{0};  // of this server's clock
  Mangle mangle;                             // for connections accepted from now on; may be empty

 private:
  friend class SimLink;
  friend class SimDial;

  Now now() const;
  std::chrono::nanoseconds draw_delay();
  void serve_all();
  void touch();  // something was called on the service: ask when it wants its tick
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
  // The server is started at once.
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
