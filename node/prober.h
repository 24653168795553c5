#pragma once

// Prober: asks a node that is down if it is back, over a connection of its own. It never uses a
// user's request for that.
//
// | state           | input                  | then                                    | next    |
// |-----------------|------------------------|-----------------------------------------|---------|
// | idle            | ask(), no connection   | dials                                   | dialing |
// | idle            | ask(), connection kept | sends the protocol's no-op              | asking  |
// | dialing         | ready                  | sends the protocol's no-op              | asking  |
// | asking          | answered               | reports a good result, keeps connection | idle    |
// | dialing, asking | all else, or deadline  | closes, reports a bad result            | idle    |
// | any             | close()                | closes, reports nothing                 | idle    |
//
// A connection is kept only between good answers, because after a failure a reply may still be on
// its way.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <vector>

#include "node/socket_maker.h"
#include "node/socket_totals.h"
#include "socket/request.h"

namespace sheaf::node {

class ProberOwner {
 public:
  // `good`: the node has answered. Otherwise `why` says how the connection ended. It is null if the
  // connection has not ended: the answer was bad or did not come in time. The owner may ask() again
  // at once.
  virtual void on_probe_result(bool good, const protocol::CloseReason* why, Now now) = 0;

 protected:
  ~ProberOwner() = default;
};

class Prober final : private socket::ClientSocketOwner, private socket::RequestSink {
 public:
  Prober(SocketMaker& maker, ProberOwner& owner, std::chrono::nanoseconds connect_timeout);
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // No probe may be in progress. The result comes by `deadline`, if on_deadline() is called then.
  void ask(Deadline deadline, Now now);
  // When the current probe fails; `never` if there is no probe.
  Deadline deadline() const noexcept { return deadline_; }
  void on_deadline(Now now);
  // The login has changed: a connection that cannot continue with it is not kept.
  void renew_login(Now now);
  void close(Now now);
  // True if no connection is left.
  bool empty() const noexcept { return socket_ == nullptr && closing_.empty(); }
  void add_to(NodeStats& stats) const;

 private:
  enum class State : std::uint8_t { idle, dialing, asking };

  void on_socket_ready(socket::ClientSocket& socket, Now now) override;
  void on_socket_reply(socket::ClientSocket& socket, socket::Request& request,
                       const protocol::Reply& reply, Now now) override;
  // on_socket_closed follows.
  void on_socket_failed(socket::ClientSocket&, socket::Request&, protocol::Sent, Now) override {}
  void on_socket_closed(socket::ClientSocket& socket, const protocol::CloseReason& why,
                        Now now) override;
  void on_done(socket::Request&, const socket::Completion&) override {}  // the socket reports

  void send(Now now);
  void fail(const protocol::CloseReason* why, Now now);

  SocketMaker& maker_;
  ProberOwner& owner_;
  std::chrono::nanoseconds connect_timeout_;
  State state_ = State::idle;
  Deadline deadline_ = never;
  std::unique_ptr<socket::Request> request_;  // from the first probe on
  std::unique_ptr<socket::ClientSocket> socket_;
  std::vector<std::unique_ptr<socket::ClientSocket>> closing_;
  SocketTotals totals_;
};

}  // namespace sheaf::node
