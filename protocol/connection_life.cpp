// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/connection_life.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checks.h"
#include "protocol/speaker.h"

namespace sheaf::protocol {

namespace {

// A server of another kind sent this, or one that starts by breaking the protocol of `peer`.
CloseReason wrong_peer(std::string_view peer, std::string_view input, std::string_view what) {
  std::string_view speaker = speaker_of(input);
  if (speaker.starts_with(peer)) speaker = {};
  CloseReason reason{Reason::protocol_error, "the server does not answer as "};
  reason.text.append(peer).append(": ");
  if (speaker.empty()) {
    reason.text.append(what);
  } else {
    reason.text.append("it looks like ").append(speaker);
  }
  reason.not_understood = true;
  reason.other_kind = !speaker.empty();
  return reason;
}

}  // namespace

ConnectionLife::ConnectionLife(const LifeOptions& options, OpenRequests& requests)
    : options_(options),
      requests_(requests),
      input_(options.input_limit),
      keep_alive_(options.silence, options.keep_alive, options.answer_limit) {}

// ---- inputs

void ConnectionLife::start(Now now) noexcept {
  SHEAF_CHECK(state_ == State::idle);
  state_ = State::greeting;
  handshake_due_ = now.mono + options_.handshake_limit;
  last_input_ = now;
  keep_alive_.start(now.mono);
}

std::span<std::byte> ConnectionLife::input_space() {
  if (closed()) return {};
  const std::span<std::byte> space = input_.space();
  if (input_.out_of_memory()) end_without_memory();
  return space;
}

void ConnectionLife::on_input(std::size_t size, Now now) noexcept {
  if (closed()) return;
  heard_ = true;
  input_.added(size, now);
  last_input_ = now;
  keep_alive_.on_input(now.mono);
  const bool holds_much = (input_.shares() && input_.capacity() > kept_when_idle) ||
                          output_.capacity() > kept_when_idle;
  if (holds_much && trim_due_ == never) trim_due_ = now.mono + idle_limit;
}

void ConnectionLife::on_output(std::size_t size, Now now) {
  keep_alive_.on_output(output_, now.mono);
  output_.taken(size);
}

void ConnectionLife::on_eof() {
  const bool let_in = state_ == State::accepted || state_ == State::ready;
  guarded([&] {
    if (!let_in && !input_.parsed() && !speaker_of(input_.data()).empty()) {
      return end(wrong_peer(options_.peer, input_.data(), "it ended the connection"));
    }
    std::string text = "the server ended the connection";
    if (!let_in) text.append(" before it answered ").append(options_.greeting);
    const bool silent = !let_in && !heard_;
    if (silent) {
      text.append(options_.over_tls ? ": it may speak another protocol"
                                    : ": it may expect TLS, or speak another protocol");
    }
    CloseReason reason{let_in ? Reason::connection_lost : Reason::connect_failed, std::move(text)};
    reason.not_understood = silent;
    end(std::move(reason));
  });
  output_.clear();
}

// ---- deadlines

void ConnectionLife::expect_by(Deadline due, std::string_view text) noexcept {
  if (due >= handshake_due_) return;
  handshake_due_ = due;
  late_ = text;
}

std::optional<Deadline> ConnectionLife::poll_deadline(Deadline own) const noexcept {
  switch (state_) {
    case State::idle:
    case State::closed:
      return std::nullopt;
    case State::greeting:
    case State::accepted:
      return handshake_due_;
    case State::ready:
      break;
  }
  const Deadline due = std::min({keep_alive_.due(), own, trim_due_});
  return due == never ? std::nullopt : std::optional(due);
}

bool ConnectionLife::check_handshake() {
  if (ready()) return true;
  std::string text(late_);
  if (late_.empty()) {
    text.append("the server did not answer ").append(options_.greeting).append(" in time");
    text.append(options_.greeting_hint);
  }
  end({Reason::connect_failed, std::move(text)});
  return false;
}

bool ConnectionLife::ask_no_op(Now now) {
  if (now.mono >= trim_due_) {
    const Deadline due = last_input_.mono + idle_limit;
    trim_due_ = due > now.mono ? due : never;
    if (trim_due_ == never) {
      input_.trim();
      output_.trim();
    }
  }
  if (closed() || now.mono < keep_alive_.due()) return false;
  if (!keep_alive_.asking()) return true;
  std::string text = "the server did not answer ";
  end({Reason::connection_lost, std::move(text.append(options_.no_op).append(" in time"))});
  return false;
}

// ---- requests

std::optional<Reason> ConnectionLife::not_ready() const noexcept {
  if (ready() && !end_next_) return std::nullopt;
  return closed() ? close_reason_.reason : Reason::node_down;
}

// How far a request would have got if its frame were cut off here.
Sent ConnectionLife::sent_if_cut(const OpenRequest& request) const noexcept {
  if (request.only_reads) return Sent::no;
  switch (output_.progress(request.frame)) {
    case OutputQueue::Progress::waiting:
      return Sent::no;
    case OutputQueue::Progress::begun:
      return request.acts_early ? Sent::maybe : Sent::no;
    case OutputQueue::Progress::written:
      return Sent::maybe;
  }
  return Sent::maybe;
}

Sent ConnectionLife::cancel(Ticket ticket) {
  OpenRequest* const request = requests_.find(ticket);
  if (request == nullptr) return Sent::maybe;
  if (closed()) {
    requests_.abandon(*request);
    return request->sent;
  }
  const OutputQueue::FrameId frame = request->frame;
  if (output_.progress(frame) == OutputQueue::Progress::waiting) {
    output_.erase(frame);
    requests_.drop(*request);
    return Sent::no;
  }
  const Sent if_cut = sent_if_cut(*request);
  const Sent if_whole = request->only_reads ? Sent::no : Sent::maybe;
  requests_.abandon(*request);
  if (!output_.needs_borrowed(frame)) return if_whole;  // the rest of it will leave
  guarded([this] {
    end({Reason::connection_lost, "a request was given up while its value was being sent"});
  });
  return if_cut;
}

// ---- the end

Step ConnectionLife::become_ready(Event& event) noexcept {
  state_ = State::ready;
  event = Event{};
  event.kind = Event::Kind::ready;
  return Step::event;
}

// Frames that have not begun never leave. A half-written frame cannot be followed by a farewell.
void ConnectionLife::end(CloseReason reason, std::string_view farewell) {
  if (closed()) return;
  const bool let_in = state_ == State::accepted || state_ == State::ready;
  state_ = State::closed;
  close_reason_ = std::move(reason);
  std::size_t position = 0;
  while (OpenRequest* const request = requests_.next(position)) {
    request->sent = sent_if_cut(*request);
    ++position;
  }
  const bool can_speak = let_in && !farewell.empty() && !output_.half_written();
  output_.clear();
  if (!can_speak) return;
  try {
    output_.reserve(farewell.size());
  } catch (const std::bad_alloc&) {
    return;
  }
  output_.buffer().append(farewell);
  output_.end();
}

Step ConnectionLife::end_with(Reason reason, std::string text, bool permanent) {
  end({reason, std::move(text), permanent});
  return Step::again;
}

Step ConnectionLife::broken(std::string_view what, std::string_view farewell) {
  if (state_ == State::greeting && !input_.parsed()) {
    end(wrong_peer(options_.peer, input_.data(), what));
  } else {
    end({Reason::protocol_error, "the server broke the protocol: " + std::string(what)}, farewell);
  }
  return Step::again;
}

// The text is short enough to need no memory.
void ConnectionLife::end_without_memory() { end({Reason::out_of_memory, "out of memory"}); }

// ---- events

bool ConnectionLife::next_failure(Event& event) {
  if (OpenRequest* const request = requests_.next(next_failed_)) {
    event = Event{};
    event.kind = Event::Kind::failed;
    event.ticket = request->ticket;
    event.sent = request->sent;
    requests_.abandon(*request);
    return true;
  }
  if (end_reported_) return false;
  end_reported_ = true;
  event = Event{};
  event.kind = Event::Kind::closed;
  return true;
}

}  // namespace sheaf::protocol
