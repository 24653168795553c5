// Pure: no socket, clock, entropy, thread or callback.

#include "client/list/cas_register.h"

#include <utility>

#include "base/text.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::list {

using protocol::Condition;
using protocol::Status;
using protocol::Verb;

namespace {

// Leaves room above a draw for more ids than a writer can ever use.
constexpr Id drawn_end = last_id - (Id{1} << 40);

}  // namespace

CasRegister::CasRegister(Keys keys, CasRegisterOptions options, Seed seed)
    : RegisterBase(std::move(keys), options.step_timeout), options_(options), random_(seed) {
  draw();
}

void CasRegister::draw() { next_ = 1 + random_.below(drawn_end); }

void CasRegister::open(Deadline until, Now now) {
  begin_attempt(until, now);
  good_until_ = contended_ ? now.mono + options_.tenure : never;
  if (known_ != Known::trusted || contended_) return send_get(now);
  head_.next = next_;
  state_ = State::open;
  report_done();
}

// ---- the head

void CasRegister::send_get(Now now) {
  state_ = State::reading;
  PendingOperation operation(Verb::get, keys_.head());
  send(read, std::move(operation), now);
}

void CasRegister::on_head(const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  const bool there = answer.reply.status == Status::done;
  if (there && answer.reply.version.empty()) return end_without_versions(answer);
  auto parsed = there ? parse_head(answer.reply.value, Ids::drawn) : Head{};
  if (!parsed) {
    return end(Kind::failed, refused(answer, Reason::other, std::move(parsed.error())), answer.now);
  }
  std::optional<std::string> version;
  if (there) version = answer.reply.version;
  const bool same =
      known_ != Known::nothing && answer.connection == connection_ && version == version_;
  contended_ = known_ != Known::nothing && !same;
  use_connection(answer.connection);
  version_ = std::move(version);
  head_ = std::move(*parsed);
  head_.next = next_;
  sweeper_.forget_swept(head_.garbage);
  known_ = same ? Known::trusted : Known::doubtful;
  versioned_ = there;
  state_ = State::open;
  report_done();
}

// ---- reading and adding

void CasRegister::exchange(std::vector<std::string> gets, std::vector<KeyAndValue> puts,
                           Deadline until, Now now) {
  until_ = until;
  state_ = State::exchanging;
  unanswered_ = gets.size() + puts.size();
  next_ += puts.size();  // each gets its own id
  if (added_.empty()) added_at_ = now.mono;
  send_gets(get, std::move(gets), now);
  for (KeyAndValue& each : puts) {
    added_.push_back(each.key);
    PendingOperation operation(Verb::set, std::move(each.key));
    operation.condition = Condition::if_absent;
    operation.value = std::move(each.value);
    operation.ttl = options_.life;
    operation.connection = bound();
    operation.deadline = until;  // there may be many, and the last ones are sent late
    send(put, std::move(operation), now);
  }
}

void CasRegister::on_exchange(const PendingOperation& operation, const socket::Completion& answer) {
  if (!answer.answered) return fail(answer);
  const bool done = answer.reply.status == Status::done;
  if (operation.purpose == get && !done) distrust_head();  // it may be out of date
  if (operation.purpose == put && !done) {
    std::erase(added_, operation.key);  // another client's key
    draw();
    return lose(answer, "the key " + operation.key + " already exists");
  }
  if (operation.purpose == look && !done)
    return lose(answer, "the server has dropped a segment that the edit added");
  if (!answer.reply.version.empty()) versioned_ = true;
  if (on_exchanged(operation, operation.purpose == get, answer)) {
    on_all_exchanged(operation.purpose == look, answer);
  }
}

void CasRegister::on_all_exchanged(bool looked, const socket::Completion& answer) {
  if (!versioned_ && !added_.empty()) {
    return looked ? end_without_versions(answer) : look_for_versions(answer.now);
  }
  state_ = State::open;
  report_done();
}

// Old servers do not send the version of what they store; servers run with -C never send one.
void CasRegister::look_for_versions(Now now) {
  PendingOperation operation(Verb::get, added_.front());
  operation.connection = bound();
  unanswered_ = 1;
  send(look, std::move(operation), now);
}

void CasRegister::end_without_versions(const socket::Completion& answer) {
  Error error =
      refused(answer, Reason::other, "the server keeps no versions (-C), which lists need");
  error.outcome = Outcome::unsupported;
  end(Kind::failed, std::move(error), answer.now);
}

// ---- committing

void CasRegister::commit(Head head, Deadline until, Now now) {
  if (!added_.empty() && now.mono >= added_at_ + options_.life / 2) {
    return end(Kind::lost,
               runtime::local_error(Outcome::not_sent, Reason::timed_out,
                                    "the edit was not committed within " +
                                        format_elapsed(options_.life / 2) +
                                        ", half the life of its segments"),
               now);
  }
  until_ = until;
  state_ = State::touching;
  gone_ = false;
  unanswered_ = 1 + (options_.controls.touch_first ? added_.size() : 0);
  if (options_.controls.touch_first) send_touches(until, now);
  next_head_ = std::move(head);
  next_head_.next = 0;
  // Touches that may use other connections must be answered before the commit is sent.
  const bool in_order = connection_ != 0 || unanswered_ == 1;
  if (in_order) send_swap(now);
}

void CasRegister::send_swap(Now now) {
  state_ = State::swapping;
  PendingOperation operation(Verb::set, keys_.head());
  if (options_.controls.compare) {
    operation.condition = version_ ? Condition::if_version : Condition::if_absent;
    operation.version = version_.value_or(std::string());
  }
  operation.value = encode_head(next_head_);
  operation.connection = bound();
  operation.deadline = until_;
  send(swap, std::move(operation), now);
}

void CasRegister::send_touches(Deadline until, Now now) {
  for (const std::string& key : added_) {
    PendingOperation operation(Verb::touch, key);
    operation.connection = bound();
    operation.deadline = until;
    send(touch, std::move(operation), now);
  }
}

// The commit is the last command of the attempt on its connection. A touch that fails before the
// commit is sent keeps it from being sent; a touch that is lost after that leaves the edit unknown.
void CasRegister::on_commit(const PendingOperation& operation, const socket::Completion& answer) {
  if (operation.purpose == swap) return on_swapped(answer);
  if (!answer.answered) {
    if (state_ == State::touching) return fail(answer);
    if (state_ == State::swapping && pending_.drop_waiting() > 0) return fail(answer);
    Error error = runtime::make_error(answer, started_);
    error.outcome = Outcome::unknown;
    added_.clear();
    return end(Kind::unknown, std::move(error), answer.now);
  }
  if (answer.reply.status != Status::done) gone_ = true;
  if (gone_ && state_ == State::touching)
    return lose(answer, "the server has dropped a segment that the edit added");
  --unanswered_;
  if (unanswered_ == 1 && state_ == State::touching) return send_swap(answer.now);
  if (unanswered_ == 0) on_committed(answer);
}

void CasRegister::on_swapped(const socket::Completion& answer) {
  if (!answer.answered && answer.outcome == Outcome::unknown) {
    added_.clear();  // the list may contain them
    return end(Kind::unknown, runtime::make_error(answer, started_), answer.now);
  }
  if (!answer.answered) return fail(answer);
  if (answer.reply.status != Status::done) {
    contended_ = true;
    return lose(answer, "another writer has changed the list");
  }
  state_ = State::swapped;
  version_ = answer.reply.version;
  if (!options_.controls.touch_first) send_touches(until_, answer.now);
  if (--unanswered_ == 0) on_committed(answer);
}

void CasRegister::on_committed(const socket::Completion& answer) {
  added_.clear();
  if (gone_) {
    known_ = Known::nothing;
    Error error = refused(answer, Reason::incomplete,
                          "the edit was made, but the server has dropped a segment that it added");
    error.outcome = Outcome::unknown;
    return end(Kind::unknown, std::move(error), answer.now);
  }
  state_ = State::open;
  replace_head(std::move(next_head_), {{}, bound(), answer.now.mono + 2 * options_.step_timeout});
  head_.next = next_;
  known_ = contended_ ? Known::doubtful : Known::trusted;
  if (version_->empty()) {  // an old server; the next commit needs a version, and open() reads it
    known_ = Known::nothing;
    good_until_ = Deadline::min();
  }
  report_done();
}

// ---- ends

void CasRegister::lose(const socket::Completion& answer, std::string text) {
  end(Kind::lost, refused(answer, Reason::other, std::move(text)), answer.now);
}

void CasRegister::close(Deadline until, Now) {
  event_ = {};
  pending_.drop_waiting();
  if (state_ == State::closed) return;
  if (state_ != State::open || !added_.empty()) distrust_head();  // the attempt failed
  sweeper_.discard(std::exchange(added_, {}), {{}, bound(), until});
  state_ = State::closed;
  ++attempt_;
  good_until_ = never;
}

void CasRegister::on_reply_to(const PendingOperation& operation, const socket::Completion& answer) {
  if (operation.attempt != attempt_) return;
  switch (state_) {
    case State::reading:
      return on_head(answer);
    case State::exchanging:
      return on_exchange(operation, answer);
    case State::touching:
    case State::swapping:
    case State::swapped:
      return on_commit(operation, answer);
    case State::closed:
    case State::open:
      break;
  }
}

}  // namespace sheaf::client::list
