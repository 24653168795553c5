#pragma once

// WatchLine: the one connection of a node on which keys are watched. It is outside the pool, so
// that neither requests nor the pool's rules end it. It exists while it is needed, reconnects by
// itself, and detects by itself that the server has gone silent.
//
// | state   | what happens                        | then                            | next    |
// |---------|-------------------------------------|---------------------------------|---------|
// | closed  | open()                              | dials                           | dialing |
// | dialing | ready                               | on_line_up                      | up      |
// | dialing | failed                              | on_line_failed, waits; longer   | waiting |
// |         |                                     | if it was refused permanently   |         |
// | waiting | the wait is over                    | dials                           | dialing |
// | up      | ended, or silent                    | on_line_down, waits             | waiting |
// | up      | another process took its name       | on_line_down, on_line_failed,   | waiting |
// |         |                                     | waits as takeovers.h says       |         |
// | waiting | renew_login()                       | dials                           | dialing |
// | any     | leave(), and `linger` later         | closes                          | closed  |
//
// A connection can die without a sign (a cut cable, a stopped server). Therefore the line sends the
// protocol's no-op after `quiet` without an answered request. It ends the connection if no byte
// arrives for `silence` after that, or if any request stays unanswered for `answer`. So a silent
// cut is detected within `quiet + silence`.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <vector>

#include "node/client_node.h"

namespace sheaf::node {

struct WatchLineOptions {
  std::chrono::nanoseconds quiet = std::chrono::seconds(2);
  std::chrono::nanoseconds silence = std::chrono::seconds(1);
  std::chrono::nanoseconds answer = std::chrono::seconds(5);
  std::chrono::nanoseconds linger = std::chrono::seconds(5);
  // The longest wait between attempts to connect. After an attempt that was refused permanently (a
  // wrong password) it is `refused`. A connection that was up is never the last word: whatever its
  // end says, the next attempt comes soon, and a refusal of that one is reported.
  std::chrono::nanoseconds most_wait = std::chrono::seconds(1);
  std::chrono::nanoseconds refused = std::chrono::seconds(30);
};

class WatchLineOwner {
 public:
  // A new connection, on which nothing is watched yet.
  virtual void on_line_up(Now now) = 0;
  // A request was answered, so there is room again.
  virtual void on_line_room(Now now) = 0;
  virtual void on_line_notification(const protocol::Notification& notification, Now now) = 0;
  // Everything on the connection has ended. `proof`: everything that the server sent before was
  // received.
  virtual void on_line_down(Now proof, Now now) = 0;
  virtual void on_line_failed(const protocol::CloseReason& why, Now now) = 0;

 protected:
  ~WatchLineOwner() = default;
};

class WatchLine final : private socket::ClientSocketOwner,
                        private socket::TimerSink,
                        private socket::RequestSink {
 public:
  // The node must outlive it.
  WatchLine(ClientNode& node, socket::Loop& loop, WatchLineOwner& owner, Seed seed,
            const WatchLineOptions& options = {});
  ~WatchLine();
  WatchLine(const WatchLine&) = delete;
  WatchLine& operator=(const WatchLine&) = delete;

  void open(Now now);   // the line is needed
  void leave(Now now);  // it is not needed any more; nothing is in flight
  // The sessions have another login. A connection that cannot continue with it is replaced, and an
  // attempt that waits is made at once.
  void renew_login(Now now);
  // Ends what is in flight and closes. Only empty() may be called afterwards.
  void shut_down(Now now);
  bool empty() const noexcept { return socket_ == nullptr && retiring_.empty(); }

  // The number of requests that it takes now.
  std::size_t room() const;
  // On success the request ends through its sink; until then it must not move. The line sets the
  // request's deadline.
  std::expected<void, protocol::LocalError> submit(socket::Request& request, Now now);

  bool up() const noexcept { return state_ == State::up; }
  // While it is up: everything that the server sent before this was received.
  Now proof() const noexcept { return proof_; }
  const std::string& identity() const noexcept { return node_.options().identity; }

 private:
  enum class State : std::uint8_t { closed, dialing, waiting, up };

  void on_socket_ready(socket::ClientSocket& socket, Now now) override;
  void on_socket_reply(socket::ClientSocket& socket, socket::Request& request,
                       const protocol::Reply& reply, Now now) override;
  void on_socket_failed(socket::ClientSocket& socket, socket::Request& request, protocol::Sent sent,
                        Now now) override;
  void on_socket_notification(socket::ClientSocket& socket,
                              const protocol::Notification& notification, Now now) override;
  void on_socket_closed(socket::ClientSocket& socket, const protocol::CloseReason& reason,
                        Now now) override;
  void on_timer(Now now) override;
  void on_done(socket::Request&, const socket::Completion&) override {}  // for the probe

  void dial(Now now);
  void close(Now now);
  void beat(Now now);
  Deadline next_beat() const;
  void arm();

  ClientNode& node_;
  socket::Loop& loop_;
  WatchLineOwner& owner_;
  WatchLineOptions options_;
  Random random_;
  Backoff backoff_;
  State state_ = State::closed;
  bool shut_down_ = false;
  Takeovers takeovers_;
  Deadline away_until_{0};  // another process has our name: no attempt before this
  Deadline redial_at_ = never;
  Deadline leave_at_ = never;
  Now proof_;                    // when the latest answered request had been sent
  Deadline excused_{0};          // until then our own process was not running
  Deadline probe_sent_ = never;  // never: no probe is in flight
  socket::Request probe_;
  std::unique_ptr<socket::ClientSocket> socket_;
  std::vector<std::unique_ptr<socket::ClientSocket>> retiring_;
  std::unique_ptr<socket::Timer> timer_;
};

}  // namespace sheaf::node
