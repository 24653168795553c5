#include "client/lock/cas_lock_key.h"

#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::lock {

using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using End = KeyAnswer::End;

std::chrono::seconds item_life(std::chrono::milliseconds lease,
                               std::chrono::seconds grace) noexcept {
  return std::chrono::ceil<std::chrono::seconds>(lease) + grace;
}

Error no_versions(std::string_view node) {
  Error error = runtime::local_error(
      Outcome::unsupported, Reason::bad_configuration,
      "the server at " + std::string(node) + " keeps no versions (-C): locks need them");
  error.node = node;
  return error;
}

void CasLockKey::begin(Deed deed, Deadline deadline, std::uint64_t connection, Now now) {
  if (in_flight_ && writes()) {  // it may be executed yet
    certain_ = false;
    may_be_ours_ = true;
  }
  deed_ = deed;
  deadline_ = deadline;
  connection_ = connection;
  begun_at_ = now.mono;
  stored_ = repeated_ = false;
  go(first(), now);
}

CasLockKey::Step CasLockKey::first() const {
  if (deed_ == Deed::take) return Step::adding;
  const bool usable = certain_ && connection_ != 0 && connection_ == version_connection_;
  if (deed_ == Deed::keep) return usable || !rules_.compare ? Step::swapping : Step::looking;
  return usable ? Step::removing : Step::looking;
}

void CasLockKey::go(Step step, Now now) {
  step_ = step;
  sent_at_ = now.mono;
  wanted_ = true;
  in_flight_ = false;
  ++id_;
}

bool CasLockKey::poll_command(calls::Command& command) {
  if (!std::exchange(wanted_, false)) return false;
  in_flight_ = true;
  command = {};
  command.id = id_;
  command.operation = operation();
  command.connection = connection_;
  return true;
}

protocol::Operation CasLockKey::operation() {
  protocol::Operation operation;
  operation.key = item_.name;
  operation.deadline = deadline_;
  if (step_ == Step::looking) return operation;
  if (step_ == Step::removing) {
    operation.verb = Verb::remove;
  } else {
    operation.verb = Verb::set;
    operation.value = item_.nonce;
    operation.ttl = item_life(item_.lease, rules_.grace);
  }
  if (step_ == Step::adding) {
    operation.condition = Condition::if_absent;
  } else if (step_ == Step::removing ? !version_.empty() : rules_.compare) {
    operation.condition = Condition::if_version;
    operation.version = compared_[id_] = version_;
  }
  return operation;
}

std::optional<KeyAnswer> CasLockKey::on_answer(unsigned id, const socket::Completion& answer) {
  compared_.erase(id);
  if (id != id_ || !in_flight_) return std::nullopt;
  in_flight_ = false;
  if (!answer.answered) {
    if (writes() && answer.outcome == Outcome::unknown) {
      certain_ = false;
      may_be_ours_ = true;
    }
    return failed(runtime::make_error(answer, begun_at_), answer);
  }
  connection_ = answer.connection;  // what follows compares what this connection tells
  switch (step_) {
    case Step::adding:
      return on_added(answer);
    case Step::looking:
      return on_looked(answer);
    case Step::swapping:
      return on_swapped(answer);
    case Step::removing:
      return on_removed(answer);
    case Step::idle:
      break;
  }
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_stored(const socket::Completion& answer) {
  may_be_ours_ = true;
  stored_at_ = sent_at_;
  note(answer);
  const bool slow = answer.now.mono - sent_at_ > rules_.slow;
  if (certain_ && slow && !std::exchange(repeated_, true)) {
    go(Step::swapping, answer.now);
    return std::nullopt;
  }
  if (certain_ || deed_ == Deed::keep) return ended(End::done, answer);
  stored_ = true;
  go(Step::looking, answer.now);
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_added(const socket::Completion& answer) {
  if (answer.reply.status == Status::done) return on_stored(answer);
  if (!may_be_ours_) return ended(End::taken, answer);
  go(Step::looking, answer.now);
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_looked(const socket::Completion& answer) {
  const bool there = answer.reply.status == Status::done;
  if (!there && deed_ == Deed::take) {
    stored_ = false;
    go(Step::adding, answer.now);
    return std::nullopt;
  }
  if (!there) return ended(End::gone, answer);
  if (answer.reply.value != item_.nonce) {
    return ended(deed_ == Deed::give_back ? End::gone : End::taken, answer);
  }
  note(answer);
  // Without versions nobody gets a lock there, so what stands is only ours to take away.
  if (!certain_ && deed_ != Deed::give_back) return failed(no_versions(answer.node), answer);
  if (stored_) return ended(End::done, answer);
  go(deed_ == Deed::give_back ? Step::removing : Step::swapping, answer.now);
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_swapped(const socket::Completion& answer) {
  if (answer.reply.status == Status::done) return on_stored(answer);
  certain_ = false;
  if (deed_ == Deed::take) {
    go(Step::adding, answer.now);
    return std::nullopt;
  }
  return ended(answer.reply.status == Status::absent ? End::gone : End::taken, answer);
}

std::optional<KeyAnswer> CasLockKey::on_removed(const socket::Completion& answer) {
  if (answer.reply.status == Status::done) return ended(End::done, answer);
  certain_ = false;
  if (answer.reply.status == Status::absent) return ended(End::gone, answer);
  go(Step::looking, answer.now);  // a renewal of ours may have passed on another connection
  return std::nullopt;
}

// Servers before 1.6.13 do not tell the version of what they have stored.
void CasLockKey::note(const socket::Completion& answer) {
  version_ = answer.reply.version;
  version_connection_ = answer.connection;
  certain_ = !version_.empty();
}

KeyAnswer CasLockKey::ended(End end, const socket::Completion& answer) {
  step_ = Step::idle;
  KeyAnswer told;
  told.end = end;
  told.sent_at = stored_at_;
  told.version = version_;
  told.connection = answer.connection;
  told.node = answer.node;
  return told;
}

KeyAnswer CasLockKey::failed(Error error, const socket::Completion& answer) {
  step_ = Step::idle;
  if (stored_ && error.outcome == Outcome::not_sent) error.outcome = Outcome::unknown;
  KeyAnswer told;
  told.node = answer.node;
  told.error = std::move(error);
  told.in_question = may_be_ours_;
  return told;
}

}  // namespace sheaf::client::lock
