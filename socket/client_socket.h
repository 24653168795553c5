#pragma once

// ClientSocket: one connection. It dials, runs a protocol session over the stream and pairs the
// session's events with requests. It knows its age, its idle time and how long its oldest request
// has been waiting.
//
// States: dialing -> handshaking -> ready -> closed. However it ends, each of its requests ends
// first, through on_socket_failed; then on_socket_closed is called once, from Loop::turn().
//
// Thread rule: belongs to one lane.

#include <algorithm>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "socket/request.h"
#include "socket/seam.h"

namespace sheaf::socket {

class ClientSocketOwner {
 public:
  // Its handshake is done; or it was behind, and has become as good as new.
  virtual void on_socket_ready(ClientSocket& socket, Now now) = 0;
  // The reply's views live during the call.
  virtual void on_socket_reply(ClientSocket& socket, Request& request, const protocol::Reply& reply,
                               Now now) = 0;
  // Reports one key of a get_many or set_many; the request continues. Views live as above.
  virtual void on_socket_item(Request&, std::uint32_t /*index*/, const protocol::Reply&, Now) {}
  virtual void on_socket_failed(ClientSocket& socket, Request& request, protocol::Sent sent,
                                Now now) = 0;
  // A watched key changed. Views live as above.
  virtual void on_socket_notification(ClientSocket&, const protocol::Notification&, Now) {}
  // As protocol::Event::Kind::outdated.
  virtual void on_socket_outdated(ClientSocket&, Now) {}
  // The last call. The owner may destroy the socket in it.
  virtual void on_socket_closed(ClientSocket& socket, const protocol::CloseReason& reason,
                                Now now) = 0;

 protected:
  ~ClientSocketOwner() = default;
};

// Bytes that a connection has carried.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

struct SocketTimes {
  Deadline created;
  Deadline idle_since;  // when its last request ended; meaningless while one is in flight
  Deadline last_received{0};
  // When the first request was submitted that was cancelled since anything arrived.
  Deadline cancelled_since = never;
  // How long nothing has arrived although a request was cancelled that may owe its reply.
  Deadline silent_since() const noexcept {
    return cancelled_since == never ? never : std::max(cancelled_since, last_received);
  }
};

class ClientSocket final : private StreamSink,
                           private DialSink,
                           private TimerSink,
                           private Deferred {
 public:
  enum class State : std::uint8_t { dialing, handshaking, ready, closed };

  // Starts to dial at once. The session must be ready by `ready_deadline`.
  ClientSocket(Loop& loop, Dialer& dialer, Endpoint endpoint,
               std::unique_ptr<protocol::Session> session, ClientSocketOwner& owner,
               Deadline ready_deadline);
  ~ClientSocket();
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  // Commands. After a successful submit() the request ends through the owner, unless cancel() is
  // called first.
  std::expected<void, protocol::LocalError> submit(Request& request, Now now);
  protocol::Sent cancel(Request& request, Now now);
  // What is still to come for the first request comes for the second one, which is as large.
  void hand_over(Request& request, Request& heir);
  // As Session::renew_login; true while it dials and once it is ending.
  bool renew_login(Now now);
  void close(Now now);  // orderly
  // At once, with our own reason; false if there is such a reason already.
  bool abort(Reason reason, std::string text, Now now);
  enum class Fitness : std::uint8_t {
    as_new,             // ready, nothing in flight, nothing unread, no error
    owes_late_replies,  // the same but for replies to requests that have ended, and have left
    unfit               // anything else
  };
  Fitness fitness() const;

  // Queries.
  State state() const noexcept { return state_; }
  bool ready() const noexcept { return state_ == State::ready; }
  std::size_t room() const { return ready() ? session_->room() : 0; }
  unsigned in_flight() const noexcept { return requests_.size(); }
  // True if the handshake ever succeeded.
  bool was_ready() const noexcept { return was_ready_; }
  // Why it is ending or has ended.
  const protocol::CloseReason& close_reason() const {
    return own_reason_ ? *own_reason_ : session_->close_reason();
  }
  const Endpoint& endpoint() const noexcept { return endpoint_; }
  const SocketTimes& times() const noexcept { return times_; }
  // When the oldest request in flight was submitted; `never` if nothing is.
  Deadline busy_since() const noexcept;
  Traffic traffic() const noexcept { return traffic_; }
  const protocol::Session& session() const noexcept { return *session_; }
  Encryption encryption() const {
    return stream_ != nullptr ? stream_->encryption() : Encryption();
  }

  // Names the connection for the life of the process; set by the node.
  std::uint64_t id = 0;
  // The number of leases that are out; kept by SocketLease.
  unsigned leases = 0;
  // Set by the node's pool: it carries no more requests; the wrong server is behind it, so if its
  // name has several addresses, others are tried first.
  bool retired = false;
  bool misled = false;
  // Set by the pool: it owes replies to requests that have ended, and carries only what is bound to
  // it until they have come.
  bool behind = false;
  // Set by itself: the peer has closed it, and carries out nothing that it had not read by then.
  bool peer_left = false;

 private:
  std::span<std::byte> read_space() override;
  void on_read(std::size_t size, Now now) override;
  void on_writable(Now now) override;
  void on_closed(int error, Now now) override;
  bool expecting() const override { return state_ != State::ready || !requests_.empty() || behind; }
  void on_connected(std::unique_ptr<Stream> stream, Now now) override;
  void on_dial_failed(DialFailure why, Now now) override;
  void on_timer(Now now) override;
  void run_deferred(Now now) override;

  void pull_events(Now now);
  void flush(Now now);
  Request* take(protocol::Ticket ticket, Now now);

  Loop& loop_;
  Dialer& dialer_;
  Endpoint endpoint_;
  std::unique_ptr<protocol::Session> session_;
  ClientSocketOwner& owner_;
  State state_ = State::dialing;
  bool was_ready_ = false;
  bool blocked_ = false;  // the stream took only a part; on_writable will follow
  Deadline ready_deadline_;
  SocketTimes times_;
  unsigned unwritten_ = 0;  // operations since the last flush
  unsigned burst_ = 0;      // operations that are written before the turn ends
  Traffic traffic_;
  bool cut_ = false;                                 // the peer ended the stream
  std::optional<protocol::CloseReason> own_reason_;  // set if we end it before the session could
  std::vector<Request*> by_slot_;
  IntrusiveList<Request> requests_;  // in flight, oldest first
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Dial> dial_;
};

}  // namespace sheaf::socket
