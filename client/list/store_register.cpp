#include "client/list/store_register.h"

#include <algorithm>
#include <utility>

#include "client/outcomes.h"

namespace sheaf::client::list {

using namespace std::chrono_literals;
using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using Kind = RegisterEvent::Kind;

namespace {

constexpr std::size_t window = 256;

// Worth another attempt: the connection or the fence is another one by then, and a time-out may
// have been an accident. Everything else would end the same again.
bool worth_another(const socket::Completion& answer) {
  switch (answer.outcome) {
    case Outcome::unknown:
      return true;
    case Outcome::refused:
      return answer.reason == Reason::fencing_stale;
    case Outcome::not_sent:
      return answer.reason == Reason::connection_lost || answer.reason == Reason::timed_out;
    default:
      return false;
  }
}

}  // namespace

StoreRegister::StoreRegister(Keys keys, StoreRegisterOptions options, Seed seed)
    : keys_(std::move(keys)),
      options_(options),
      random_(seed),
      flights_(window, keys_.route()),
      sweeper_(keys_) {
  flights_.number_from(1, 2);
}

void StoreRegister::send(Purpose purpose, Flight flight, Now now) {
  flight.purpose = purpose;
  flight.attempt = attempt_;
  const Deadline step_end = now.mono + options_.step_timeout;
  flight.deadline = flight.deadline == Deadline{0} ? std::min(until_, step_end) : flight.deadline;
  flights_.add(std::move(flight));
}

void StoreRegister::open(Deadline until, Now now) {
  ++attempt_;
  started_ = now.mono;
  until_ = until;
  contended_ = false;
  refusals_ = 0;
  pause_ = options_.first_poll;
  seen_version_.clear();
  nonce_ = "sheaf list " + random_.hex(32);
  send_lock(now);
}

// The same nonce again and again: a request that we had given up may have taken the lock.
void StoreRegister::send_lock(Now now) {
  state_ = State::locking;
  asked_at_ = now.mono;
  Flight flight;
  flight.verb = Verb::set;
  flight.condition = Condition::if_absent_or_equal;
  flight.key = keys_.lock();
  flight.value = nonce_;
  flight.ttl = options_.lease;
  send(lock, std::move(flight), now);
}

void StoreRegister::on_lock(const socket::Completion& answer) {
  if (answer.answered && answer.reply.status == Status::done) return on_lock_taken(answer);
  if (answer.answered) return wait(answer.reply.version, answer.now);
  if (!worth_another(answer)) return fail(answer);
  wait({}, answer.now);
}

void StoreRegister::on_lock_taken(const socket::Completion& answer) {
  if (answer.reply.version.empty()) {
    Error error = make_error(answer, started_);
    error.outcome = Outcome::refused;
    error.reason = Reason::protocol_error;
    error.text = "the store gave the list's lock no version";
    return end(Kind::failed, std::move(error), answer.now);
  }
  token_ = answer.reply.version;
  if (connection_ != answer.connection) sweeper_.start_over();
  connection_ = answer.connection;
  locked_at_ = asked_at_;
  good_until_ = locked_at_ + options_.tenure;
  if (known_ && known_on_ == connection_ && !contended_ && options_.claim) {
    send_claim(answer.now);
  } else {
    send_get(answer.now);
  }
}

// Short pauses while the lock changes hands, longer ones while one holder keeps it, and never past
// the end of a lease that nobody renews.
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

// A lock that is free for a moment is found by asking; only longer waits are worth a watch.
std::string_view StoreRegister::watched_key() const {
  const bool waits = state_ == State::waiting || state_ == State::locking;
  return waits && refusals_ > 2 ? std::string_view(keys_.lock()) : std::string_view();
}

// Not all who wait at once, and nobody twice in a row: a hint comes for the taking of the lock,
// too.
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
  Flight flight;
  flight.verb = Verb::get;
  flight.key = keys_.head();
  flight.connection = connection_;
  send(step, std::move(flight), now);
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
    Error error = make_error(answer, started_);
    error.outcome = Outcome::refused;
    error.reason = Reason::other;
    error.text = std::move(parsed.error());
    return end(Kind::failed, std::move(error), answer.now);
  }
  head_ = std::move(*parsed);
  if (options_.claim || absent_) {
    send_claim(answer.now);
  } else {
    opened();
  }
}

void StoreRegister::send_claim(Now now) {
  state_ = State::claiming;
  Flight flight;
  flight.verb = Verb::set;
  flight.condition = absent_ ? Condition::if_absent : Condition::if_absent_or_equal;
  flight.key = keys_.head();
  flight.value = bytes_;
  flight.fence = token_;
  flight.connection = connection_;
  send(step, std::move(flight), now);
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
  event_ = {Kind::done, {}};
}

void StoreRegister::exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts,
                             Deadline until, Now now) {
  until_ = until;
  state_ = State::exchanging;
  values_.assign(gets.size(), std::nullopt);
  unanswered_ = gets.size() + puts.size();
  for (std::size_t i = 0; i < gets.size(); ++i) {
    Flight flight;
    flight.key = std::move(gets[i]);
    flight.connection = connection_;
    flight.place = i;
    send(get, std::move(flight), now);
  }
  for (KeyAndValue& each : puts) {
    Flight flight;
    flight.verb = Verb::set;
    flight.key = std::move(each.key);
    flight.value = std::move(each.value);
    flight.fence = token_;
    flight.connection = connection_;
    flight.deadline = until;  // there may be many: the last ones leave late
    send(put, std::move(flight), now);
  }
}

void StoreRegister::on_exchange(const Flight& flight, const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  if (flight.purpose == get && answer.reply.status == Status::done) {
    values_[flight.place] = answer.reply.value;
  }
  if (--unanswered_ > 0) return;
  state_ = State::open;
  event_ = {Kind::done, {}};
}

void StoreRegister::commit(Head head, Deadline until, Now now) {
  until_ = until;
  state_ = State::committing;
  next_ = std::move(head);
  next_bytes_ = encode_head(next_);
  known_ = false;
  Flight flight;
  flight.verb = Verb::set;
  flight.key = keys_.head();
  flight.value = next_bytes_;
  flight.fence = token_;
  flight.connection = connection_;
  flight.deadline = until;
  send(step, std::move(flight), now);
}

void StoreRegister::on_commit(const socket::Completion& answer) {
  if (!answer.answered && answer.outcome == Outcome::unknown) {
    return end(Kind::unknown, make_error(answer, started_), answer.now);
  }
  if (!answer.answered) return fail(answer);
  state_ = State::open;
  sweeper_.sweep(head_.garbage, {token_, connection_, answer.now.mono + 2 * options_.step_timeout});
  head_ = std::move(next_);
  bytes_ = std::move(next_bytes_);
  sweeper_.forget_swept(head_.garbage);
  known_ = true;
  event_ = {Kind::done, {}};
}

void StoreRegister::fail(const socket::Completion& answer) {
  end(worth_another(answer) ? Kind::lost : Kind::failed, make_error(answer, started_), answer.now);
}

void StoreRegister::end(Kind kind, Error error, Now now) {
  close(now.mono + options_.step_timeout, now);
  event_ = {kind, std::move(error)};
}

void StoreRegister::close(Deadline until, Now) {
  event_ = {};
  flights_.drop_waiting();
  if (state_ == State::closed) return;
  state_ = State::closed;
  ++attempt_;
  good_until_ = never;
  Flight flight;
  flight.verb = Verb::remove;
  flight.condition = Condition::if_value;
  flight.key = keys_.lock();
  flight.value = std::exchange(nonce_, {});
  flight.deadline = until;
  flight.purpose = release;
  ++releases_;
  flights_.add_urgent(std::move(flight));
}

void StoreRegister::on_answer(unsigned id, const socket::Completion& answer) {
  if (sweeper_.on_answer(id, answer)) return;
  const std::unique_ptr<Flight> flight = flights_.answered(id);
  if (flight == nullptr) return;
  if (flight->purpose == release) return static_cast<void>(--releases_);
  if (flight->attempt != attempt_) return;
  switch (state_) {
    case State::locking:
      return on_lock(answer);
    case State::reading:
      return on_head(answer);
    case State::claiming:
      return on_claim(answer);
    case State::exchanging:
      return on_exchange(*flight, answer);
    case State::committing:
      return on_commit(answer);
    case State::closed:
    case State::waiting:
    case State::open:
      break;
  }
}

bool StoreRegister::poll_command(Command& command) {
  return flights_.poll(command) || sweeper_.poll(command);
}

}  // namespace sheaf::client::list
