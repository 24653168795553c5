// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/store_register.h"

#include <algorithm>
#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;

StoreRegister::StoreRegister(Keys keys, StoreRegisterOptions options, Seed seed)
    : RegisterBase(std::move(keys), options.step_timeout), options_(options), random_(seed) {}

void StoreRegister::open(Deadline until, Now now) {
  begin_attempt(until, now);
  contended_ = false;
  refusals_ = 0;
  pause_ = options_.first_poll;
  seen_version_.clear();
  nonce_ = "sheaf list " + random_.hex(32);
  send_lock(now);
}

// Every request of an attempt uses the same nonce: one that we had given up may have taken the
// lock.
void StoreRegister::send_lock(Now now) {
  state_ = State::locking;
  asked_at_ = now.mono;
  PendingOperation operation(Verb::set, keys_.lock());
  operation.condition = Condition::if_absent_or_equal;
  operation.value = nonce_;
  operation.ttl = options_.lease;
  send(lock, std::move(operation), now);
}

void StoreRegister::on_lock(const socket::Completion& answer) {
  if (answer.answered && answer.reply.status == Status::done) return on_lock_taken(answer);
  if (answer.answered) return wait(answer.reply.version, answer.now);
  if (!worth_another(answer)) return fail(answer);
  wait({}, answer.now);
}

void StoreRegister::on_lock_taken(const socket::Completion& answer) {
  if (answer.reply.version.empty()) {
    return end(Kind::failed,
               refused(answer, Reason::protocol_error, "the store gave the list's lock no version"),
               answer.now);
  }
  token_ = answer.reply.version;
  use_connection(answer.connection);
  locked_at_ = asked_at_;
  good_until_ = locked_at_ + options_.tenure;
  if (known_ && known_on_ == connection_ && !contended_ && options_.controls.claim) {
    send_claim(answer.now);
  } else {
    send_get(answer.now);
  }
}

// Waits briefly while the lock changes hands and longer while one holder keeps it, but never past
// the end of a lease that is not renewed.
void StoreRegister::wait(std::string_view version, Now now) {
  state_ = State::waiting;
  contended_ = true;
  ++refusals_;
  if (version.empty() || version != seen_version_) {
    seen_version_ = version;
    seen_at_ = now.mono;
    pause_ = std::min<std::chrono::nanoseconds>(pause_, 8 * options_.first_poll);
  }
  const auto drawn = std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(pause_.count()) * random_.between(0.5, 1.5)));
  retry_at_ = now.mono + drawn;
  const Deadline lease_end = seen_at_ + options_.lease + options_.first_poll;
  if (lease_end > now.mono) retry_at_ = std::min(retry_at_, lease_end);
  pause_ = std::min<std::chrono::nanoseconds>(pause_ * 3 / 2, options_.last_poll);
}

// Asking finds a lock that is free for a moment; a watch pays off only for longer waits.
std::string_view StoreRegister::watched_key() const {
  const bool waits = state_ == State::waiting || state_ == State::locking;
  return waits && refusals_ > 2 ? std::string_view(keys_.lock()) : std::string_view();
}

// The delay is random, so that not all who wait ask at once. It also keeps some distance to the
// last request: taking the lock causes a hint too.
void StoreRegister::on_hint(Now now) {
  if (state_ != State::waiting) return;
  const auto drawn = std::chrono::nanoseconds(static_cast<std::int64_t>(
      static_cast<double>(std::chrono::nanoseconds(options_.first_poll).count()) *
      random_.between(0.0, 0.5)));
  const Deadline soonest = asked_at_ + options_.first_poll / 2;
  retry_at_ = std::min(retry_at_, std::max(now.mono + drawn, soonest));
}

void StoreRegister::on_deadline(Now now) {
  if (state_ == State::waiting && now.mono >= retry_at_) send_lock(now);
}

void StoreRegister::send_get(Now now) {
  state_ = State::reading;
  forget_head();
  PendingOperation operation(Verb::get, keys_.head());
  operation.connection = connection_;
  send(step, std::move(operation), now);
}

void StoreRegister::forget_head() noexcept {
  known_ = false;
  absent_ = false;
}

void StoreRegister::on_head(const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  absent_ = answer.reply.status != Status::done;
  bytes_ = absent_ ? encode_head(Head{}) : std::string(answer.reply.value);
  auto parsed = parse_head(bytes_, keys_.ids());
  if (!parsed) {
    return end(Kind::failed, refused(answer, Reason::other, std::move(parsed.error())), answer.now);
  }
  head_ = std::move(*parsed);
  if (options_.controls.claim || absent_) {
    send_claim(answer.now);
  } else {
    opened();
  }
}

void StoreRegister::send_claim(Now now) {
  state_ = State::claiming;
  PendingOperation operation(Verb::set, keys_.head());
  operation.condition = absent_ ? Condition::if_absent : Condition::if_absent_or_equal;
  operation.value = bytes_;
  operation.persist = head_.persist;
  operation.fence = token_;
  operation.connection = connection_;
  send(step, std::move(operation), now);
}

void StoreRegister::on_claim(const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  if (answer.reply.status != Status::done) return send_get(answer.now);
  opened();
}

void StoreRegister::opened() {
  state_ = State::open;
  known_ = true;
  absent_ = false;
  known_on_ = connection_;
  sweeper_.forget_swept(head_.garbage);
  report_done();
}

void StoreRegister::exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts,
                             Deadline until, Now now) {
  until_ = until;
  state_ = State::exchanging;
  unanswered_ = gets.size() + puts.size();
  send_gets(get, std::move(gets), now);
  for (KeyAndValue& each : puts) {
    PendingOperation operation(Verb::set, std::move(each.key));
    operation.value = std::move(each.value);
    operation.persist = each.persist;
    operation.fence = token_;
    operation.connection = connection_;
    operation.deadline = until;  // there may be many, and the last ones are sent late
    send(put, std::move(operation), now);
  }
}

void StoreRegister::on_exchange(const PendingOperation& operation,
                                const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  if (!on_exchanged(operation, operation.purpose == get, answer)) return;
  state_ = State::open;
  report_done();
}

void StoreRegister::commit(Head head, Deadline until, Now now) {
  until_ = until;
  state_ = State::committing;
  next_ = std::move(head);
  next_bytes_ = encode_head(next_);
  known_ = false;
  PendingOperation operation(Verb::set, keys_.head());
  operation.value = next_bytes_;
  operation.persist = next_.persist;
  operation.fence = token_;
  operation.connection = connection_;
  operation.deadline = until;
  send(step, std::move(operation), now);
}

void StoreRegister::on_commit(const socket::Completion& answer) {
  if (!answer.answered && answer.outcome == Outcome::unknown) {
    return end(Kind::unknown, runtime::make_error(answer, started_), answer.now);
  }
  if (!answer.answered) return fail(answer);
  state_ = State::open;
  replace_head(std::move(next_),
               {token_, connection_, answer.now.mono + 2 * options_.step_timeout});
  bytes_ = std::move(next_bytes_);
  known_ = true;
  report_done();
}

void StoreRegister::close(Deadline until, Now) {
  event_ = {};
  pending_.drop_waiting();
  if (state_ == State::closed) return;
  state_ = State::closed;
  ++attempt_;
  good_until_ = never;
  PendingOperation operation(Verb::remove, keys_.lock());
  operation.condition = Condition::if_value;
  operation.value = std::exchange(nonce_, {});
  operation.deadline = until;
  operation.purpose = release;
  ++releases_;
  pending_.add_urgent(std::move(operation));
}

void StoreRegister::on_reply_to(const PendingOperation& operation,
                                const socket::Completion& answer) {
  if (operation.purpose == release) return static_cast<void>(--releases_);
  if (operation.attempt != attempt_) return;
  switch (state_) {
    case State::locking:
      return on_lock(answer);
    case State::reading:
      return on_head(answer);
    case State::claiming:
      return on_claim(answer);
    case State::exchanging:
      return on_exchange(operation, answer);
    case State::committing:
      return on_commit(answer);
    case State::closed:
    case State::waiting:
    case State::open:
      break;
  }
}

}  // namespace sheaf::client::list
