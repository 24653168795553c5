#include "node/watch_line.h"

#include <algorithm>

#include "base/checks.h"
#include "socket/own_pause.h"

namespace sheaf::node {

using protocol::CloseReason;
using protocol::Sent;
using socket::ClientSocket;
using socket::Completion;

namespace {

BackoffOptions backoff_options(const WatchLineOptions& options) {
  BackoffOptions backoff;
  backoff.limit = options.most_wait;
  return backoff;
}

}  // namespace

WatchLine::WatchLine(ClientNode& node, socket::Loop& loop, WatchLineOwner& owner, Seed seed,
                     const WatchLineOptions& options)
    : node_(node),
      loop_(loop),
      owner_(owner),
      options_(options),
      random_(seed),
      backoff_(backoff_options(options)),
      timer_(loop.timer(*this)) {
  probe_.sink = this;
  probe_.operation.verb = protocol::Verb::probe;
}

WatchLine::~WatchLine() = default;

void WatchLine::open(Now now) {
  leave_at_ = never;
  if (shut_down_ || state_ != State::closed) return;
  dial(now);
}

void WatchLine::leave(Now now) {
  if (state_ == State::closed) return;
  leave_at_ = now.mono + options_.linger;
  arm();
}

void WatchLine::renew_login(Now now) {
  if (shut_down_) return;
  if (state_ == State::waiting) {
    redial_at_ = std::max(now.mono, away_until_);
    return arm();
  }
  if (socket_ == nullptr || socket_->renew_login(now)) return;
  socket_->abort(Reason::closed,
                 "the connection cannot change its login, and the login has changed", now);
}

void WatchLine::shut_down(Now now) {
  shut_down_ = true;
  close(now);
}

void WatchLine::dial(Now now) {
  state_ = State::dialing;
  redial_at_ = never;
  socket_ = node_.create_unpooled(*this, now);
  arm();
}

void WatchLine::close(Now now) {
  state_ = State::closed;
  redial_at_ = leave_at_ = probe_sent_ = never;
  timer_->cancel();
  if (socket_ == nullptr) return;
  if (probe_.socket != nullptr) socket_->cancel(probe_, now);
  socket_->close(now);
  retiring_.push_back(std::move(socket_));
}

// One place is kept for the probe.
std::size_t WatchLine::room() const {
  const std::size_t room = up() ? socket_->room() : 0;
  return room > 0 && probe_sent_ == never ? room - 1 : room;
}

std::expected<void, protocol::LocalError> WatchLine::submit(socket::Request& request, Now now) {
  SHEAF_CHECK(up());
  request.operation.deadline = now.mono + options_.answer;
  auto submitted = socket_->submit(request, now);
  arm();
  return submitted;
}

// ---- the socket

void WatchLine::on_socket_ready(ClientSocket& socket, Now now) {
  if (&socket != socket_.get()) return;
  state_ = State::up;
  backoff_.on_ready(now);
  proof_ = now;
  probe_sent_ = never;
  arm();
  owner_.on_line_up(now);
}

void WatchLine::on_socket_reply(ClientSocket& socket, socket::Request& request,
                                const protocol::Reply& reply, Now now) {
  const auto ago = std::chrono::ceil<std::chrono::milliseconds>(now.mono - request.submitted_at);
  if (&socket == socket_.get() && request.submitted_at > proof_.mono) {
    proof_ = {request.submitted_at, now.wall - ago};
  }
  if (&request == &probe_) {
    probe_sent_ = never;
    arm();
    if (&socket == socket_.get()) owner_.on_line_room(now);
    return;
  }
  Completion completion;
  completion.answered = reply.status != protocol::Status::refused;
  completion.reply = reply;
  completion.outcome = Outcome::refused;
  completion.reason = reply.reason;
  completion.text = reply.text;
  completion.node = identity();
  completion.connection = socket.id;
  completion.now = now;
  arm();
  request.sink->on_done(request, completion);
  if (&socket == socket_.get()) owner_.on_line_room(now);
}

void WatchLine::on_socket_failed(ClientSocket& socket, socket::Request& request, Sent sent,
                                 Now now) {
  if (&request == &probe_) return;
  const CloseReason& why = socket.close_reason();
  Completion completion;
  completion.outcome = sent == Sent::no ? Outcome::not_sent : Outcome::unknown;
  completion.reason = why.reason;
  completion.text = why.text;
  completion.node = identity();
  completion.now = now;
  request.sink->on_done(request, completion);
}

void WatchLine::on_socket_notification(ClientSocket& socket,
                                       const protocol::Notification& notification, Now now) {
  if (&socket == socket_.get() && up()) owner_.on_line_notification(notification, now);
}

void WatchLine::on_socket_closed(ClientSocket& socket, const CloseReason& why, Now now) {
  if (&socket != socket_.get()) {
    std::erase_if(retiring_, [&](const auto& gone) { return gone.get() == &socket; });
    return;
  }
  const auto gone = std::move(socket_);
  const bool was_up = up();
  state_ = State::waiting;
  probe_sent_ = never;
  redial_at_ = backoff_.on_failed(now, random_);
  if (why.permanent) redial_at_ = now.mono + options_.refused;
  const std::string_view name = gone->session().own_name();
  const auto pause = takeovers_.on_ended(why, name, was_up, gone->times().created, now);
  if (pause) redial_at_ = away_until_ = now.mono + *pause;
  arm();
  if (was_up) owner_.on_line_down(proof_, now);
  if (pause) {
    owner_.on_line_failed(name_is_taken(name, gone->session().close_reason()), now);
  } else if (!was_up) {
    owner_.on_line_failed(why, now);
  }
}

// ---- heartbeat

// When a connection that is up next needs attention.
Deadline WatchLine::next_beat() const {
  if (!up()) return never;
  const auto since = [&](Deadline start) { return std::max(start, excused_); };
  Deadline next = never;
  if (probe_sent_ != never) {
    next = since(std::max(probe_sent_, socket_->times().last_received)) + options_.silence;
  } else if (socket_->room() > 0) {
    next = proof_.mono + options_.quiet;
  }
  if (socket_->in_flight() > 0) {
    next = std::min(next, since(socket_->busy_since()) + options_.answer);
  }
  return next;
}

void WatchLine::beat(Now now) {
  if (now.mono < next_beat()) return;
  if (probe_sent_ == never && now.mono >= proof_.mono + options_.quiet && socket_->room() > 0) {
    probe_sent_ = now.mono;
    if (!submit(probe_, now)) {
      socket_->abort(Reason::protocol_error, "no probe can be sent", now);
    }
    return;
  }
  if (socket::was_paused(loop_)) {
    excused_ = now.mono;
    return;
  }
  socket_->abort(Reason::connection_lost, "the server has gone silent", now);
}

void WatchLine::arm() {
  if (shut_down_) return;
  const Deadline next = std::min({redial_at_, leave_at_, next_beat()});
  if (next == never) {
    timer_->cancel();
  } else {
    timer_->set(next);
  }
}

void WatchLine::on_timer(Now now) {
  if (now.mono >= leave_at_) return close(now);
  switch (state_) {
    case State::waiting:
      if (now.mono >= redial_at_) dial(now);
      break;
    case State::up:
      beat(now);
      break;
    case State::closed:
    case State::dialing:
      break;
  }
  arm();
}

}  // namespace sheaf::node
