#include "node/prober.h"

#include <utility>

namespace sheaf::node {

using protocol::CloseReason;
using socket::ClientSocket;

Prober::Prober(SocketMaker& maker, ProberOwner& owner, std::chrono::nanoseconds connect_timeout)
    : maker_(maker), owner_(owner), connect_timeout_(connect_timeout) {}

Prober::~Prober() = default;

void Prober::ask(Deadline deadline, Now now) {
  deadline_ = deadline;
  if (request_ == nullptr) {
    request_ = std::make_unique<socket::Request>();
    request_->sink = this;
    request_->operation.verb = protocol::Verb::probe;
  }
  if (socket_ != nullptr) return send(now);
  state_ = State::dialing;
  socket_ = maker_.make(protocol::SessionUse::probes, *this, connect_timeout_, now);
}

void Prober::send(Now now) {
  state_ = State::asking;
  request_->operation.deadline = deadline_;
  if (!socket_->submit(*request_, now)) fail(nullptr, now);
}

void Prober::on_deadline(Now now) {
  if (deadline_ <= now.mono) fail(nullptr, now);
}

void Prober::renew_login(Now now) {
  if (socket_ == nullptr || socket_->renew_login(now)) return;
  if (state_ == State::idle) return close(now);
  fail(nullptr, now);
}

void Prober::close(Now now) {
  state_ = State::idle;
  deadline_ = never;
  if (socket_ == nullptr) return;
  if (request_->socket != nullptr) socket_->cancel(*request_, now);
  socket_->close(now);
  closing_.push_back(std::move(socket_));
}

void Prober::fail(const CloseReason* why, Now now) {
  close(now);
  owner_.on_probe_result(false, why, now);
}

// ---- events of the connection

void Prober::on_socket_ready(ClientSocket& socket, Now now) {
  if (&socket != socket_.get()) return;
  ++totals_.connects;
  send(now);
}

void Prober::on_socket_reply(ClientSocket&, socket::Request&, const protocol::Reply& reply,
                             Now now) {
  if (reply.status == protocol::Status::refused) return fail(nullptr, now);
  state_ = State::idle;
  deadline_ = never;
  owner_.on_probe_result(true, nullptr, now);
}

void Prober::on_socket_closed(ClientSocket& socket, const CloseReason& why, Now now) {
  totals_.add(socket);
  if (&socket != socket_.get()) {
    std::erase_if(closing_, [&](const auto& gone) { return gone.get() == &socket; });
    return;
  }
  const auto gone = std::move(socket_);
  if (!gone->was_ready()) ++totals_.connect_failures;
  if (state_ != State::idle) fail(&why, now);
}

void Prober::add_to(NodeStats& stats) const {
  SocketTotals totals = totals_;
  if (socket_ != nullptr) totals.add(*socket_);
  for (const auto& socket : closing_) totals.add(*socket);
  totals.add_to(stats);
}

}  // namespace sheaf::node
