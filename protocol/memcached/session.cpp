// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/memcached/session.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

#include "base/checks.h"

namespace sheaf::protocol::memcached {
namespace {

constexpr const char* kNoMemory = "out of memory";  // short enough to need none
// Neither protocol has larger ones, and the server takes none.
constexpr std::uint64_t kLargestValue = (1u << 30) - 1024;

}  // namespace

MemcachedSession::MemcachedSession(SessionOptions options)
    : input_(static_cast<std::size_t>(std::min(options.value_limit, kLargestValue)) + kMaxText),
      queue_(options.first_opaque),
      options_(std::move(options)) {
  SHEAF_CHECK(options_.max_in_flight >= 1);
  options_.value_limit = std::min(options_.value_limit, kLargestValue);
}

template <class Action>
void MemcachedSession::guarded(const Action& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    end({Reason::out_of_memory, kNoMemory, false});
  }
}

// ---- inputs

void MemcachedSession::start(Now now) {
  SHEAF_CHECK(state_ == State::idle);
  state_ = State::greeting;
  handshake_due_ = now.mono + options_.handshake_limit;
  last_received_ = now.mono;
  guarded([this] {
    if (auto text = bad_credentials()) {
      return end({Reason::bad_configuration, std::move(*text), true});
    }
    greet();
  });
}

std::span<std::byte> MemcachedSession::input_space() {
  if (closed()) return {};
  const std::span<std::byte> space = input_.space();
  if (space.empty() && input_.capacity() < input_.limit()) {
    end({Reason::out_of_memory, kNoMemory, false});
  }
  return space;
}

void MemcachedSession::on_input(std::size_t size, Now now) {
  if (closed()) return;
  input_.added(size);
  last_received_ = now.mono;
  probe_.reset();  // any byte shows that the server lives
}

void MemcachedSession::on_output(std::size_t size, Now now) {
  // The answer is owed from when the no-op has left.
  if (probe_ && output_.progress(*probe_) != OutputQueue::Progress::written) {
    probe_due_ = now.mono + options_.answer_limit;
  }
  output_.taken(size);
}

void MemcachedSession::on_eof(Now) {
  const bool known = state_ == State::ready;
  guarded([&] {
    end({known ? Reason::connection_lost : Reason::connect_failed,
         known ? "the server ended the connection"
               : "the server ended the connection before it answered the greeting",
         false});
  });
  output_.clear();
}

void MemcachedSession::close(Now) {
  guarded([this] { end({Reason::closed, "closed by this client", false}); });
}

// ---- deadlines

Deadline MemcachedSession::next_probe() const noexcept {
  return probe_ ? probe_due_ : last_received_ + options_.keep_alive;
}

std::optional<Deadline> MemcachedSession::poll_deadline() const {
  switch (state_) {
    case State::idle:
    case State::closed:
      return std::nullopt;
    case State::greeting:
      return handshake_due_;
    case State::ready:
      if (options_.only_version) return std::nullopt;
      return next_probe();
  }
  return std::nullopt;
}

void MemcachedSession::on_deadline(Now now) {
  const auto due = poll_deadline();
  if (!due || now.mono < *due) return;
  guarded([&] {
    if (state_ != State::ready) {
      return end({Reason::connect_failed,
                  "the server did not answer the greeting in time: it stands still, or speaks "
                  "memcached's other protocol only",
                  false});
    }
    if (probe_) {
      return end({Reason::connection_lost, "the server did not answer a no-op in time", false});
    }
    write_probe();
    probe_ = queue_.last().frame;
    probe_due_ = now.mono + options_.answer_limit;
  });
}

// ---- commands

std::size_t MemcachedSession::room() const {
  if (state_ != State::ready || options_.only_version || end_next_) return 0;
  if (output_.size() >= options_.output_limit || queue_.size() >= options_.max_in_flight) return 0;
  return options_.max_in_flight - queue_.size();
}

std::expected<Ticket, LocalError> MemcachedSession::submit(const Operation& operation, Now now) {
  try {
    if (auto error = refusal_of(operation)) return std::unexpected(std::move(*error));
    return write(operation, now);
  } catch (const std::bad_alloc&) {
    return std::unexpected(LocalError{Outcome::overloaded, Reason::out_of_memory, kNoMemory});
  }
}

// Why a request is not taken, as far as that is the same in both protocols.
std::optional<LocalError> MemcachedSession::refusal_of(const Operation& operation) const {
  if (state_ != State::ready || end_next_) {
    const Reason reason = closed() ? close_reason_.reason : Reason::node_down;
    return LocalError{Outcome::not_sent, reason, "the connection is not ready"};
  }
  if (room() == 0) {
    return LocalError{Outcome::overloaded, Reason::queue_full,
                      "the connection carries as many requests as it may"};
  }
  if (auto error = bad_combination(operation)) return error;
  const std::size_t size = operation.value.size();
  if (size > options_.value_limit) {
    return too_large("the value", size, "value_limit", options_.value_limit);
  }
  const std::size_t longest = max_value(options_.item_size, operation.key.size(), operation.flags);
  if (size > longest) {
    return too_large("the value", size, "what an item of the server has room for,", longest);
  }
  return std::nullopt;
}

Sent MemcachedSession::cancel(Ticket ticket, Now) {
  Pending* const request = queue_.find(ticket);
  if (request == nullptr) return Sent::maybe;
  if (closed()) {
    const Sent sent = request->sent;
    queue_.finish(*request);
    return sent;
  }
  const OutputQueue::FrameId frame = request->frame;
  if (output_.progress(request->frame) == OutputQueue::Progress::waiting) {
    output_.erase(frame);
    queue_.finish(*request);
    return Sent::no;
  }
  queue_.forget(*request);
  if (output_.needs_borrowed(frame)) {
    const bool answered = early_.has_value();
    guarded([this] {
      end({Reason::connection_lost, "a request was given up while its value was being sent",
           false});
    });
    return answered ? Sent::maybe : Sent::no;
  }
  return Sent::maybe;
}

// ---- outputs

std::span<const Bytes> MemcachedSession::poll_output() { return output_.parts(); }

bool MemcachedSession::poll_event(Event& event) {
  while (!closed()) {
    if (end_next_) {
      end(std::move(*end_next_));
      break;
    }
    if (early_ && early_answer(event)) return true;
    Step step = Step::again;
    guarded([&] { step = next_step(event); });
    if (step == Step::event) return true;
    if (step == Step::need_input) return false;
  }
  return next_failure(event);
}

// Every request that is still waiting fails from here on. What has not left whole never will.
void MemcachedSession::end(CloseReason reason) {
  if (closed()) return;
  state_ = State::closed;
  close_reason_ = std::move(reason);
  next_failed_ = queue_.first();
  std::uint32_t sequence = queue_.first();
  while (Pending* const request = queue_.next_waiting(sequence)) {
    const OutputQueue::Progress written = output_.progress(request->frame);
    const bool whole = written == OutputQueue::Progress::written;
    const bool part =
        written == OutputQueue::Progress::begun && request->question == Question::many;
    const bool answered = early_ && early_->sequence == request->sequence;
    request->sent = whole || part || answered ? Sent::maybe : Sent::no;
    ++sequence;
  }
  output_.clear();
}

bool MemcachedSession::next_failure(Event& event) {
  if (Pending* const request = queue_.next_waiting(next_failed_)) {
    event = Event{};
    event.kind = Event::Kind::failed;
    event.ticket = request->ticket;
    event.sent = request->sent;
    queue_.finish(*request);
    return true;
  }
  if (closed_told_) return false;
  closed_told_ = true;
  event = Event{};
  event.kind = Event::Kind::closed;
  return true;
}

// ---- how a request ends

void MemcachedSession::reserve(std::size_t requests, std::size_t bytes, std::size_t value) {
  queue_.reserve(requests);
  output_.reserve(bytes + (value <= kCopyLimit ? value : 0));
}

void MemcachedSession::put_value(std::string_view value) {
  if (value.size() <= kCopyLimit) {
    output_.buffer().append(value);
  } else {
    output_.borrow(value);
  }
}

bool MemcachedSession::may_answer(const Pending& request, bool early) {
  const OutputQueue::Progress written = output_.progress(request.frame);
  const bool sent = written == OutputQueue::Progress::written;
  if (!early_ && (sent || (early && written == OutputQueue::Progress::begun))) return true;
  broken("a reply to a request that has not been sent");
  return false;
}

MemcachedSession::Step MemcachedSession::answer(Pending& request, const Reply& reply,
                                                Event& event) {
  if (request.question == Question::stats) {
    stats_.clear();
    stats_over_ = false;
  }
  if (request.state != Pending::State::waiting) {
    if (request.ticket.generation != 0) ++counters_.late_replies;
    queue_.finish(request);
    return Step::again;
  }
  if (output_.needs_borrowed(request.frame)) {  // a refusal, as may_answer() has seen to
    early_ = Early{request.sequence, reply.reason, std::string(reply.text)};
    return Step::again;
  }
  event.kind = Event::Kind::reply;
  event.ticket = request.ticket;
  event.index = 0;
  event.reply = reply;
  event.sent = Sent::maybe;
  queue_.finish(request);
  return Step::event;
}

MemcachedSession::Step MemcachedSession::tell(Pending& request, std::uint32_t index,
                                              const Reply& reply, Event& event) {
  if (request.state != Pending::State::waiting) return Step::again;
  event.kind = Event::Kind::item;
  event.ticket = request.ticket;
  event.index = index;
  event.reply = reply;
  event.sent = Sent::maybe;
  return Step::event;
}

Reply MemcachedSession::too_large_reply() noexcept {
  Reply reply;
  reply.status = Status::refused;
  reply.reason = Reason::too_large;
  reply.text = "the value is above value_limit";
  return reply;
}

bool MemcachedSession::early_answer(Event& event) {
  Pending* const request = queue_.find(early_->sequence);
  SHEAF_CHECK(request != nullptr);
  if (output_.needs_borrowed(request->frame)) return false;
  early_text_ = std::move(early_->text);
  const Reason reason = early_->reason;
  early_.reset();
  return refuse(*request, reason, early_text_, event) == Step::event;
}

MemcachedSession::Step MemcachedSession::refuse(Pending& request, Reason reason,
                                                std::string_view text, Event& event) {
  Reply reply;
  reply.status = Status::refused;
  reply.reason = reason;
  reply.text = text;
  return answer(request, reply, event);
}

MemcachedSession::Step MemcachedSession::refuse_and_end(Pending& request, Reason reason,
                                                        std::string_view text, Event& event) {
  end_next_ =
      CloseReason{Reason::protocol_error, "the server gave up: " + std::string(text), false};
  return refuse(request, reason, text, event);
}

MemcachedSession::Step MemcachedSession::add_stat(Pending& request, std::string_view name,
                                                  std::string_view value) {
  if (request.state != Pending::State::waiting) return Step::again;
  if (stats_.size() + name.size() + value.size() + 2 > kMaxStats) stats_over_ = true;
  if (stats_over_) return Step::again;
  stats_.append(name).append(1, ' ').append(value).append(1, '\n');
  return Step::again;
}

MemcachedSession::Step MemcachedSession::end_stats(Pending& request, Event& event) {
  early_text_ = std::exchange(stats_, {});  // lives until the next such event
  if (std::exchange(stats_over_, false)) {
    return refuse(request, Reason::too_large, "the statistics are above 1 MiB", event);
  }
  Reply reply;
  reply.value = early_text_;
  return answer(request, reply, event);
}

MemcachedSession::Step MemcachedSession::become_ready(Event& event) {
  state_ = State::ready;
  event = Event{};
  event.kind = Event::Kind::ready;
  return Step::event;
}

MemcachedSession::Step MemcachedSession::end_with(Reason reason, std::string text, bool permanent) {
  end({reason, std::move(text), permanent});
  return Step::again;
}

MemcachedSession::Step MemcachedSession::broken(std::string_view what) {
  return end_with(Reason::protocol_error, "the server broke the protocol: " + std::string(what));
}

MemcachedSession::Step MemcachedSession::skip_bytes() {
  const std::size_t size = std::min(skip_, input_.data().size());
  if (size == 0) return Step::need_input;
  input_.consumed(size);
  skip_ -= size;
  return Step::again;
}

std::string_view MemcachedSession::version_text(std::uint64_t cas) noexcept {
  if (cas == 0) return {};
  const auto [end, error] =
      std::to_chars(version_text_.data(), version_text_.data() + version_text_.size(), cas);
  return {version_text_.data(), static_cast<std::size_t>(end - version_text_.data())};
}

}  // namespace sheaf::protocol::memcached
