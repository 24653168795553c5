#pragma once

// One simulated connection: both ends and the bytes in transit between them.
//
// Thread rule: one thread.

#include <memory>
#include <string>

#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

// A byte queue in order, taken from the front.
class ByteQueue {
 public:
  bool empty() const { return taken_ == bytes_.size(); }
  std::size_t size() const { return bytes_.size() - taken_; }
  std::string_view view() const { return std::string_view(bytes_).substr(taken_); }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  void take(std::size_t size);
  void clear() { bytes_.clear(), taken_ = 0; }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
};

class SimLink final : public SimConnection, public std::enable_shared_from_this<SimLink> {
 public:
  SimLink(SimServer& server, SimLoop& loop, socket::StreamSink& sink);
  SimLink(const SimLink&) = delete;
  SimLink& operator=(const SimLink&) = delete;

  // The client's end. The stream notifies the link when it is destroyed.
  std::unique_ptr<socket::Stream> make_stream();
  std::size_t write(std::span<const Bytes> parts);
  void client_gone();
  bool dark() const { return dark_; }
  std::uint64_t packets() const { return packets_; }  // writes of the client
  // When something that leaves the server now would reach the client.
  Deadline arrival_at_client() { return arrival(down_); }

  // The server's end.
  std::size_t send(std::string_view bytes) override;
  void end() override { close_server(Fate::ended); }
  void reset() override { close_server(Fate::reset); }
  // Lets the process take what has arrived; does nothing if it cannot.
  void serve();
  // The network ends the connection and notifies both ends.
  void break_off();
  // The process is gone. The client is notified, the process is not.
  void process_gone();
  // From now on bytes are lost, and neither end is notified.
  void go_dark() { dark_ = true; }

 private:
  enum class Fate : std::uint8_t { open, ended, reset };
  struct Direction {
    ByteQueue arrived;           // not read yet
    std::size_t on_the_way = 0;  // bytes
    Deadline last{0};            // arrival of the last ones
    bool wants_room = false;     // the sender waits for room
    std::size_t used() const { return arrived.size() + on_the_way; }
  };

  Deadline arrival(Direction& direction);
  std::size_t room(const Direction& direction) const;
  std::size_t piece(std::size_t size);
  bool chance(double probability);
  void to_server(std::string bytes);
  void to_client(std::string bytes);
  void close_server(Fate fate);
  void drop_peer();
  void notify_client(Fate fate);
  void wake_client();
  void client_turn(Now now);
  bool hand_over(Now now);
  void forget_if_over();

  SimServer& server_;
  SimWorld& world_;
  SimLoop& loop_;
  socket::StreamSink* sink_;  // null: the client's stream is gone, or has been notified of the end
  std::unique_ptr<SimPeer> peer_;
  std::unique_ptr<SimMangler> mangler_;
  std::uint64_t packets_ = 0;
  bool accepted_ = false;
  bool dark_ = false;
  bool server_over_ = false;      // the server's end is closed
  bool server_writable_ = false;  // the peer is to be notified
  bool client_left_ = false;      // the client's end is closed, and the server's kernel knows
  bool client_woken_ = false;     // client_turn is on its way
  bool client_writable_ = false;  // the sink is to be notified
  bool forgetting_ = false;
  Fate fate_ = Fate::open;  // as far as the client's kernel knows
  Direction up_;            // client to server
  Direction down_;
};

}  // namespace sheaf::sim
