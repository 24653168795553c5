#include "client/list/cas_register.h"

#include <utility>

#include "client/outcomes.h"

namespace sheaf::client::list {

using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using Kind = RegisterEvent::Kind;

namespace {

constexpr std::size_t window = 256;
// A draw leaves room for as many ids as a writer can ever use.
constexpr Id drawn_end = last_id - (Id{1} << 40);

// Worth another attempt: the connection is another one by then, and a time-out may have been an
// accident.
bool worth_another(const socket::Completion& answer) {
  if (answer.outcome == Outcome::unknown) return true;
  return answer.outcome == Outcome::not_sent &&
         (answer.reason == Reason::connection_lost || answer.reason == Reason::timed_out);
}

}  // namespace

CasRegister::CasRegister(Keys keys, CasRegisterOptions options, Seed seed)
    : keys_(std::move(keys)),
      options_(options),
      random_(seed),
      flights_(window, keys_.route()),
      sweeper_(keys_) {
  flights_.number_from(1, 2);
  draw();
}

void CasRegister::draw() { next_ = 1 + random_.below(drawn_end); }

void CasRegister::send(Purpose purpose, Flight flight, Now now) {
  flight.purpose = purpose;
  flight.attempt = attempt_;
  flight.connection = purpose == read ? 0 : bound();
  const Deadline step_end = now.mono + options_.step_timeout;
  flight.deadline = flight.deadline == Deadline{0} ? std::min(until_, step_end) : flight.deadline;
  flights_.add(std::move(flight));
}

void CasRegister::open(Deadline until, Now now) {
  ++attempt_;
  started_ = now.mono;
  until_ = until;
  good_until_ = contended_ ? now.mono + options_.tenure : never;
  if (!known_ || !trusted_ || contended_) return send_get(now);
  head_.next = next_;
  state_ = State::open;
  event_ = {Kind::done, {}};
}

void CasRegister::send_get(Now now) {
  state_ = State::reading;
  Flight flight;
  flight.verb = Verb::get;
  flight.key = keys_.head();
  send(read, std::move(flight), now);
}

Error CasRegister::local(std::string text, Reason reason, const socket::Completion& answer) const {
  Error error = make_error(answer, started_);
  error.outcome = Outcome::refused;
  error.reason = reason;
  error.text = std::move(text);
  return error;
}

void CasRegister::on_head(const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  absent_ = answer.reply.status != Status::done;
  if (!absent_ && answer.reply.version.empty()) {
    return end_without_versions(answer);
  }
  auto parsed = absent_ ? Head{} : parse_head(answer.reply.value, Ids::drawn);
  if (!parsed) {
    return end(Kind::failed, local(std::move(parsed.error()), Reason::other, answer), answer.now);
  }
  const bool same = known_ && answer.connection == connection_ &&
                    answer.reply.version == std::string_view(version_);
  contended_ = known_ && !same;
  if (connection_ != answer.connection) sweeper_.start_over();
  connection_ = answer.connection;
  version_ = answer.reply.version;
  head_ = std::move(*parsed);
  head_.next = next_;
  sweeper_.forget_swept(head_.garbage);
  known_ = true;
  trusted_ = same;
  versioned_ = !absent_;
  state_ = State::open;
  event_ = {Kind::done, {}};
}

void CasRegister::end_without_versions(const socket::Completion& answer) {
  Error error = local("the server keeps no versions (-C), which lists need", Reason::other, answer);
  error.outcome = Outcome::unsupported;
  end(Kind::failed, std::move(error), answer.now);
}

void CasRegister::exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts,
                           Deadline until, Now now) {
  until_ = until;
  state_ = State::exchanging;
  values_.assign(gets.size(), std::nullopt);
  unanswered_ = gets.size() + puts.size();
  next_ += puts.size();  // each has an id of its own
  if (added_.empty()) added_at_ = now.mono;
  for (std::size_t i = 0; i < gets.size(); ++i) {
    Flight flight;
    flight.key = std::move(gets[i]);
    flight.place = i;
    send(get, std::move(flight), now);
  }
  for (KeyAndValue& each : puts) {
    added_.push_back(each.key);
    Flight flight;
    flight.verb = Verb::set;
    flight.condition = Condition::if_absent;
    flight.key = std::move(each.key);
    flight.value = std::move(each.value);
    flight.ttl = options_.life;
    flight.deadline = until;  // there may be many: the last ones leave late
    send(put, std::move(flight), now);
  }
}

void CasRegister::on_exchange(const Flight& flight, const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  if (flight.purpose == get) {
    if (answer.reply.status == Status::done) {
      values_[flight.place] = answer.reply.value;
    } else {
      trusted_ = false;  // the head may be an old one
    }
  }
  if (flight.purpose == put && answer.reply.status != Status::done) {
    std::erase(added_, flight.key);  // somebody else's
    draw();
    return lose(local("the key " + flight.key + " is there already", Reason::other, answer),
                answer.now);
  }
  if (!answer.reply.version.empty()) versioned_ = true;
  if (--unanswered_ > 0) return;
  if (!versioned_ && !added_.empty()) {
    const bool dropped = flight.purpose == look && answer.reply.status != Status::done;
    if (dropped) return lose(local("what was added is gone", Reason::other, answer), answer.now);
    if (flight.purpose == look) return end_without_versions(answer);
    return look_for_versions(answer.now);
  }
  state_ = State::open;
  event_ = {Kind::done, {}};
}

// Old servers do not tell the version of what they store, those run with -C tell none at all.
void CasRegister::look_for_versions(Now now) {
  Flight flight;
  flight.key = added_.front();
  unanswered_ = 1;
  send(look, std::move(flight), now);
}

void CasRegister::send_touches(Deadline until, Now now) {
  for (const std::string& key : added_) {
    Flight flight;
    flight.verb = Verb::touch;
    flight.key = key;
    flight.deadline = until;
    send(touch, std::move(flight), now);
  }
}

void CasRegister::commit(Head head, Deadline until, Now now) {
  if (!added_.empty() && now.mono >= added_at_ + options_.life / 2) {
    return lose(local_error(Outcome::not_sent, Reason::timed_out, "the edit took too long"), now);
  }
  until_ = until;
  state_ = State::committing;
  swapped_ = gone_ = false;
  next_head_ = std::move(head);
  unanswered_ = 1 + (options_.touch_first ? added_.size() : 0);
  if (options_.touch_first) send_touches(until, now);
  Flight flight;
  flight.verb = Verb::set;
  if (options_.compare) flight.condition = absent_ ? Condition::if_absent : Condition::if_version;
  flight.key = keys_.head();
  const Id next = std::exchange(next_head_.next, 0);
  flight.value = encode_head(next_head_);
  next_head_.next = next;
  if (!absent_ && options_.compare) flight.version = version_;
  flight.deadline = until;
  send(swap, std::move(flight), now);
}

// The commit is the last of them all on its connection. A touch that failed before it has left
// keeps it from leaving; one that got lost beside it leaves the edit unknown.
void CasRegister::on_commit(const Flight& flight, const socket::Completion& answer) {
  if (flight.purpose == swap) return on_swapped(answer);
  if (!answer.answered) {
    if (!swapped_ && flights_.drop_waiting() > 0) return fail(answer);
    Error error = make_error(answer, started_);
    error.outcome = Outcome::unknown;
    added_.clear();
    return end(Kind::unknown, std::move(error), answer.now);
  }
  if (answer.reply.status != Status::done) gone_ = true;
  if (--unanswered_ == 0) committed(answer);
}

void CasRegister::on_swapped(const socket::Completion& answer) {
  if (!answer.answered && answer.outcome == Outcome::unknown) {
    added_.clear();  // they may be part of the list
    return end(Kind::unknown, make_error(answer, started_), answer.now);
  }
  if (!answer.answered) return fail(answer);
  if (answer.reply.status != Status::done) {
    contended_ = true;
    return lose(local("somebody else has changed the list", Reason::other, answer), answer.now);
  }
  swapped_ = true;
  version_ = answer.reply.version;
  if (!options_.touch_first) send_touches(until_, answer.now);
  if (--unanswered_ == 0) committed(answer);
}

void CasRegister::committed(const socket::Completion& answer) {
  added_.clear();
  if (gone_) {
    known_ = false;
    Error error = local("the edit was made, but the server has dropped what it added",
                        Reason::incomplete, answer);
    error.outcome = Outcome::unknown;
    return end(Kind::unknown, std::move(error), answer.now);
  }
  state_ = State::open;
  sweeper_.sweep(head_.garbage, {{}, bound(), answer.now.mono + 2 * options_.step_timeout});
  head_ = std::move(next_head_);
  head_.next = next_;
  sweeper_.forget_swept(head_.garbage);
  absent_ = false;
  known_ = !version_.empty();  // old servers do not tell the new version
  trusted_ = known_ && !contended_;
  event_ = {Kind::done, {}};
}

void CasRegister::lose(Error error, Now now) { end(Kind::lost, std::move(error), now); }

void CasRegister::fail(const socket::Completion& answer) {
  end(worth_another(answer) ? Kind::lost : Kind::failed, make_error(answer, started_), answer.now);
}

void CasRegister::end(Kind kind, Error error, Now now) {
  trusted_ = false;
  close(now.mono + options_.step_timeout, now);
  event_ = {kind, std::move(error)};
}

void CasRegister::close(Deadline until, Now) {
  event_ = {};
  flights_.drop_waiting();
  if (state_ == State::closed) return;
  if (!added_.empty()) trusted_ = false;
  sweeper_.discard(std::exchange(added_, {}), {{}, bound(), until});
  state_ = State::closed;
  ++attempt_;
  good_until_ = never;
}

void CasRegister::on_answer(unsigned id, const socket::Completion& answer) {
  if (sweeper_.on_answer(id, answer)) return;
  const std::unique_ptr<Flight> flight = flights_.answered(id);
  if (flight == nullptr || flight->attempt != attempt_) return;
  switch (state_) {
    case State::reading:
      return on_head(answer);
    case State::exchanging:
      return on_exchange(*flight, answer);
    case State::committing:
      return on_commit(*flight, answer);
    case State::closed:
    case State::open:
      break;
  }
}

bool CasRegister::poll_command(Command& command) {
  return flights_.poll(command) || sweeper_.poll(command);
}

}  // namespace sheaf::client::list
