#include "socket/client_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/checks.h"
#include "base/text.h"
#include "socket/own_pause.h"

namespace sheaf::socket {
namespace {

// After this many operations a burst is written before the turn ends, so that the server works on
// the first part of a large batch while the rest is encoded. An idle server gets its first part
// early, and each of the next ones is twice as large, because each costs a call of the system.
constexpr unsigned first_burst = 16;
constexpr unsigned largest_burst = 128;

// True if the end of a connection shows that its address leads to no server that can be used: its
// session never became ready, or it was and the node is given up.
bool shows_uselessness(const protocol::CloseReason& why, bool was_ready) noexcept {
  if (why.renegotiates || why.reason == Reason::closed) return false;
  return was_ready == (why.reason == Reason::node_down);
}

// The request of a ticket; null if it was cancelled.
Request* find(const std::vector<Request*>& by_slot, protocol::Ticket ticket) noexcept {
  Request* const request = ticket.slot < by_slot.size() ? by_slot[ticket.slot] : nullptr;
  return request != nullptr && request->ticket == ticket ? request : nullptr;
}

}  // namespace

ClientSocket::ClientSocket(Loop& loop, Dialer& dialer, Endpoint endpoint,
                           std::unique_ptr<protocol::Session> session, ClientSocketOwner& owner,
                           Deadline ready_deadline)
    : loop_(loop),
      dialer_(dialer),
      endpoint_(std::move(endpoint)),
      session_(std::move(session)),
      owner_(owner),
      ready_deadline_(ready_deadline),
      times_{.created = loop.now().mono, .idle_since = loop.now().mono},
      timer_(loop.timer(*this)) {
  session_->share_input(loop.shared_input());
  timer_->set(ready_deadline_);
  dial_ = dialer.dial(endpoint_, ready_deadline_, *this, *this);
}

ClientSocket::~ClientSocket() { loop_.forget(*this); }

std::expected<void, protocol::LocalError> ClientSocket::submit(Request& request, Now now) {
  SHEAF_CHECK(ready());
  auto ticket = session_->submit(request.operation, now);
  if (!ticket) return std::unexpected(std::move(ticket.error()));
  request.socket = this;
  request.ticket = *ticket;
  request.submitted_at = now.mono;
  if (by_slot_.size() <= ticket->slot) by_slot_.resize(ticket->slot + 1);
  by_slot_[ticket->slot] = &request;
  requests_.push_back(request);
  if (requests_.size() == 1) burst_ = first_burst;
  if (unwritten_ == 0) loop_.defer(*this);  // otherwise it is deferred already
  unwritten_ += request.width();
  if (unwritten_ >= burst_) {
    flush(now);
    burst_ = std::min(2 * burst_, largest_burst);
  }
  return {};
}

protocol::Sent ClientSocket::cancel(Request& request, Now now) {
  SHEAF_CHECK(take(request.ticket, now) == &request);
  const protocol::Sent sent = session_->cancel(request.ticket, now);
  if (sent == protocol::Sent::maybe) {
    Deadline& since = times_.cancelled_since;
    since = std::min(times_.last_received < since ? since : never, request.submitted_at);
  }
  loop_.defer(*this);
  return sent;
}

void ClientSocket::hand_over(Request& request, Request& heir) {
  SHEAF_CHECK(find(by_slot_, request.ticket) == &request);
  heir.socket = this;
  heir.ticket = request.ticket;
  heir.submitted_at = request.submitted_at;
  by_slot_[request.ticket.slot] = &heir;
  requests_.replace(request, heir);
  request.socket = nullptr;
}

bool ClientSocket::renew_login(Now now) {
  if (state_ == State::closed || own_reason_ || stream_ == nullptr) return true;
  const bool goes_on = session_->renew_login(now);
  loop_.defer(*this);
  return goes_on;
}

void ClientSocket::close(Now now) {
  if (state_ == State::closed) return;
  if (stream_ == nullptr) {
    abort(Reason::closed, "closed before it was connected", now);
    return;
  }
  session_->close(now);
  loop_.defer(*this);
}

bool ClientSocket::abort(Reason reason, std::string text, Now now) {
  if (state_ == State::closed || own_reason_) return false;
  own_reason_ = {reason, std::move(text), false};
  if (stream_ != nullptr) session_->on_eof(now);
  dial_.reset();
  loop_.defer(*this);
  return true;
}

ClientSocket::Fitness ClientSocket::fitness() const {
  if (!ready() || !requests_.empty() || own_reason_) return Fitness::unfit;
  if (session_->clean()) return Fitness::as_new;
  const bool only_late = times_.cancelled_since != never && !blocked_ && !session_->closed();
  return only_late ? Fitness::owes_late_replies : Fitness::unfit;
}

Deadline ClientSocket::busy_since() const noexcept {
  return requests_.empty() ? never : requests_.front()->submitted_at;
}

std::span<std::byte> ClientSocket::read_space() {
  if (session_->closed() || own_reason_) return {};
  return session_->input_space();
}

void ClientSocket::on_read(std::size_t size, Now now) {
  traffic_.received += size;
  times_.last_received = now.mono;
  session_->on_input(size, now);
  pull_events(now);
  loop_.defer(*this);
}

void ClientSocket::on_writable(Now) {
  blocked_ = false;
  loop_.defer(*this);
}

void ClientSocket::on_closed(int error, Now now) {
  const std::string_view text = stream_ == nullptr ? "" : stream_->failure();
  cut_ = !own_reason_ && !session_->closed();
  peer_left = error == 0 || error == ECONNRESET;
  // A server that cannot read the greeting may end the connection either way, and the session knows
  // what to say about it.
  const bool ended_greeting = state_ == State::handshaking && error == ECONNRESET && text.empty();
  if (!own_reason_ && error != 0 && !session_->closed() && !ended_greeting) {
    const bool refused = stream_ != nullptr && stream_->refused();
    own_reason_ = {refused ? Reason::authentication : Reason::connection_lost,
                   text.empty() ? std::string(std::strerror(error)) : std::string(text), refused};
  }
  session_->on_eof(now);
  loop_.defer(*this);
}

void ClientSocket::on_connected(std::unique_ptr<Stream> stream, Now now) {
  dial_.reset();
  stream_ = std::move(stream);
  state_ = State::handshaking;
  session_->start(now);
  loop_.defer(*this);
}

void ClientSocket::on_dial_failed(DialFailure why, Now now) {
  const bool login = why.refused || why.login;
  abort(login ? Reason::authentication : Reason::connect_failed, std::move(why.text), now);
  if (!own_reason_) return;
  own_reason_->permanent = own_reason_->reason == Reason::authentication && why.refused;
  own_reason_->not_understood = why.not_understood;
}

void ClientSocket::on_timer(Now now) {
  if (state_ == State::closed) return;
  const bool overdue = state_ != State::ready && now.mono >= ready_deadline_;
  const auto excused = overdue ? excused_deadline(loop_, now) : std::nullopt;
  if (excused) {
    ready_deadline_ = *excused;
  } else if (overdue) {
    abort(Reason::connect_failed,
          stream_ == nullptr ? "connect timed out" : "connected, but no answer to the log-in", now);
    return;
  }
  if (const auto deadline = session_->poll_deadline(); deadline && *deadline <= now.mono) {
    session_->on_deadline(now);
  }
  loop_.defer(*this);
}

// The end of a turn, or of a burst of submits: one write carries everything that was queued.
void ClientSocket::run_deferred(Now now) {
  if (state_ == State::closed) return;
  if (stream_ != nullptr) {
    flush(now);
    burst_ = largest_burst;
    pull_events(now);
  }
  const bool over = own_reason_ || session_->closed();
  if (!over) {
    Deadline next = state_ == State::ready ? never : ready_deadline_;
    if (const auto deadline = session_->poll_deadline()) next = std::min(next, *deadline);
    timer_->set(next);
    return;
  }
  SHEAF_CHECK(requests_.empty());
  state_ = State::closed;
  timer_->cancel();
  const bool connected = stream_ != nullptr && !own_reason_;
  protocol::CloseReason why = close_reason();
  // Whatever we did about it since: its requests have failed, and their owner may have aborted us.
  why.taken_over = session_->close_reason().taken_over;
  why.cut = cut_;
  if (stream_ != nullptr && (misled || shows_uselessness(why, was_ready_))) {
    stream_->found_useless();
  }
  stream_.reset();
  if (connected && why.permanent && why.reason == Reason::authentication) {
    dialer_.on_login_refused(now);
  }
  if (was_ready_) why.permanent = false;  // the peer let us in before, and may do so again
  owner_.on_socket_closed(*this, why, now);
}

void ClientSocket::pull_events(Now now) {
  protocol::Event event;
  while (session_->poll_event(event)) {
    switch (event.kind) {
      case protocol::Event::Kind::ready:
        state_ = State::ready;
        was_ready_ = true;
        times_.idle_since = now.mono;
        owner_.on_socket_ready(*this, now);
        break;
      case protocol::Event::Kind::item:
        if (Request* request = find(by_slot_, event.ticket)) {
          owner_.on_socket_item(*request, event.index, event.reply, now);
        }
        break;
      case protocol::Event::Kind::reply:
        if (Request* request = take(event.ticket, now)) {
          owner_.on_socket_reply(*this, *request, event.reply, now);
        }
        break;
      case protocol::Event::Kind::failed:
        if (Request* request = take(event.ticket, now)) {
          owner_.on_socket_failed(*this, *request, event.sent, now);
        }
        break;
      case protocol::Event::Kind::notification:
        owner_.on_socket_notification(*this, event.notification, now);
        break;
      case protocol::Event::Kind::outdated:
        owner_.on_socket_outdated(*this, now);
        break;
      case protocol::Event::Kind::closed:
        break;
    }
  }
  if (behind && fitness() == Fitness::as_new) owner_.on_socket_ready(*this, now);
}

void ClientSocket::flush(Now now) {
  unwritten_ = 0;
  while (!blocked_) {
    const std::span<const Bytes> parts = session_->poll_output();
    std::size_t total = 0;
    for (const Bytes part : parts) total += part.size();
    if (total == 0) return;
    const std::size_t taken = stream_->write(parts);
    traffic_.sent += taken;
    if (taken > 0) session_->on_output(taken, now);
    blocked_ = taken < total;
  }
}

// As find(), and also forgets the request.
Request* ClientSocket::take(protocol::Ticket ticket, Now now) {
  Request* const request = find(by_slot_, ticket);
  if (request == nullptr) return nullptr;
  by_slot_[ticket.slot] = nullptr;
  requests_.remove(*request);
  request->socket = nullptr;
  if (requests_.empty()) times_.idle_since = now.mono;
  return request;
}

}  // namespace sheaf::socket
