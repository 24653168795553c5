// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/cas_lock_key.h"

#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::lock {

using protocol::Condition;
using protocol::Status;
using protocol::Verb;
using End = KeyAnswer::End;

namespace {

// A slower answer may come from a server that was stopped meanwhile.
constexpr std::chrono::milliseconds slow_answer{100};

constexpr unsigned lease_bits = 27;
constexpr std::uint32_t lease_mark = 0b10101u << lease_bits;

}  // namespace

std::chrono::seconds item_life(std::chrono::milliseconds lease,
                               std::chrono::seconds grace) noexcept {
  return std::chrono::ceil<std::chrono::seconds>(lease) + grace;
}

std::uint32_t lease_flags(std::chrono::milliseconds lease) noexcept {
  const bool fits = lease.count() >= 0 && lease.count() < (1 << lease_bits);
  return fits ? lease_mark | static_cast<std::uint32_t>(lease.count()) : 0;
}

std::optional<std::chrono::milliseconds> lease_of(std::uint32_t flags) noexcept {
  const std::uint32_t count = flags ^ lease_mark;
  if (count >> lease_bits != 0) return std::nullopt;
  return std::chrono::milliseconds(count);
}

Error no_versions(std::string_view node) {
  Error error = runtime::local_error(
      Outcome::unsupported, Reason::bad_configuration,
      "the server at " + std::string(node) + " keeps no versions (-C): locks need them");
  error.node = node;
  return error;
}

void CasLockKey::begin(Request request, Deadline deadline, std::uint64_t connection, Now now) {
  if (in_flight() && !reads()) doubt();  // the old request may still be executed
  request_ = request;
  deadline_ = deadline;
  connection_ = connection;
  begun_at_ = now.mono;
  repeated_ = false;
  go(first(), now);
}

// To renew and to release, the version must be certain on the connection that carries the request.
CasLockKey::Step CasLockKey::first() const {
  const bool usable = certain() && connection_ == version_connection_;
  switch (request_) {
    case Request::acquire:
      return rivals_.has(item_.name) ? Step::looking : Step::adding;
    case Request::renew:
      return usable || !controls_.compare ? Step::swapping : Step::looking;
    case Request::release:
      break;
  }
  return usable ? Step::removing : Step::looking;
}

void CasLockKey::go(Step step, Now now) {
  step_ = step;
  sent_at_ = now.mono;
  sent_ = false;
  ++id_;
}

// A write of ours may be executed, or may not.
void CasLockKey::doubt() {
  version_.clear();
  may_be_ours_ = true;
}

bool CasLockKey::poll_command(calls::Command& command) {
  if (step_ == Step::idle || sent_) return false;
  sent_ = true;
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
  if (reads()) return operation;
  if (step_ == Step::removing) {
    operation.verb = Verb::remove;
  } else {
    operation.verb = Verb::set;
    operation.value = item_.nonce;
    operation.ttl = item_.whole_seconds ? item_life(item_.lease, controls_.grace) : item_.lease;
    operation.flags = item_.whole_seconds ? lease_flags(item_.lease) : 0;
  }
  if (step_ == Step::adding) {
    operation.condition = Condition::if_absent;
  } else if (step_ == Step::replacing) {
    operation.condition = Condition::if_version;
    operation.version = compared_[id_] = rival_;
  } else if (step_ == Step::removing ? certain() : controls_.compare) {
    operation.condition = Condition::if_version;
    operation.version = compared_[id_] = version_;
  }
  return operation;
}

std::optional<KeyAnswer> CasLockKey::on_answer(unsigned id, const socket::Completion& answer) {
  compared_.erase(id);
  if (id != id_ || !in_flight()) return std::nullopt;
  if (!answer.answered) {
    if (!reads() && answer.outcome == Outcome::unknown) doubt();
    return failed(runtime::make_error(answer, begun_at_), answer);
  }
  connection_ = answer.connection;  // later steps compare the versions that this connection returns
  switch (step_) {
    case Step::adding:
      return on_added(answer);
    case Step::fetching:
    case Step::looking:
      return on_looked(answer);
    case Step::swapping:
    case Step::replacing:
      return on_swapped(answer);
    case Step::removing:
      return on_removed(answer);
    case Step::idle:
      break;
  }
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_stored(const socket::Completion& answer) {
  rivals_.forget(item_.name);
  may_be_ours_ = true;
  stored_at_ = sent_at_;
  note(answer);
  const bool slow = answer.now.mono - sent_at_ > slow_answer;
  if (certain() && slow && !std::exchange(repeated_, true)) {
    go(Step::swapping, answer.now);
    return std::nullopt;
  }
  if (certain() || request_ == Request::renew) return ended(End::done, answer);
  go(Step::fetching, answer.now);
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_added(const socket::Completion& answer) {
  if (answer.reply.status == Status::done) return on_stored(answer);
  if (may_be_ours_) {
    go(Step::looking, answer.now);
    return std::nullopt;
  }
  if (item_.whole_seconds) rivals_.note(item_.name);
  return ended(End::taken, answer);
}

std::optional<KeyAnswer> CasLockKey::on_looked(const socket::Completion& answer) {
  const bool there = answer.reply.status == Status::done;
  if (!there && request_ == Request::acquire) {
    rivals_.forget(item_.name);
    go(Step::adding, answer.now);
    return std::nullopt;
  }
  if (!there) return ended(End::gone, answer);
  if (answer.reply.value != item_.nonce) {
    if (request_ == Request::acquire) return on_rival(answer);
    return ended(request_ == Request::release ? End::gone : End::taken, answer);
  }
  note(answer);
  // A server without versions grants no locks; our own item can only be removed there.
  if (!certain() && request_ != Request::release) return failed(no_versions(answer.node), answer);
  if (step_ == Step::fetching) return ended(End::done, answer);
  go(request_ == Request::release ? Step::removing : Step::swapping, answer.now);
  return std::nullopt;
}

// The item is another holder's.
std::optional<KeyAnswer> CasLockKey::on_rival(const socket::Completion& answer) {
  KeyAnswer taken = ended(End::taken, answer);
  if (!item_.whole_seconds) return taken;
  const protocol::Reply& reply = answer.reply;
  std::optional<std::chrono::nanoseconds> wait;
  const auto lease = lease_of(reply.flags);
  if (lease && !reply.version.empty()) {
    wait = controls_.outwait ? *lease + drift_allowance(*lease) : std::chrono::nanoseconds(0);
  }
  taken.free_at = rivals_.note(item_.name, answer.connection, reply.version, wait, answer.now);
  if (answer.now.mono < taken.free_at) return taken;
  rival_ = reply.version;
  go(Step::replacing, answer.now);
  return std::nullopt;
}

std::optional<KeyAnswer> CasLockKey::on_swapped(const socket::Completion& answer) {
  if (answer.reply.status == Status::done) return on_stored(answer);
  version_.clear();
  if (request_ == Request::acquire) {
    rivals_.forget(item_.name);
    go(Step::adding, answer.now);
    return std::nullopt;
  }
  return ended(answer.reply.status == Status::absent ? End::gone : End::taken, answer);
}

std::optional<KeyAnswer> CasLockKey::on_removed(const socket::Completion& answer) {
  if (answer.reply.status == Status::done) return ended(End::done, answer);
  version_.clear();
  if (answer.reply.status == Status::absent) return ended(End::gone, answer);
  go(Step::looking, answer.now);  // one of our own renewals may have come over another connection
  return std::nullopt;
}

// Servers before 1.6.13 do not return the version of what they have stored.
void CasLockKey::note(const socket::Completion& answer) {
  version_ = answer.reply.version;
  version_connection_ = answer.connection;
}

KeyAnswer CasLockKey::ended(End end, const socket::Completion& answer) {
  step_ = Step::idle;
  KeyAnswer outcome;
  outcome.end = end;
  outcome.sent_at = stored_at_;
  outcome.version = version_;
  outcome.connection = answer.connection;
  outcome.node = answer.node;
  return outcome;
}

KeyAnswer CasLockKey::failed(Error error, const socket::Completion& answer) {
  const bool stored = std::exchange(step_, Step::idle) == Step::fetching;
  if (stored && error.outcome == Outcome::not_sent) error.outcome = Outcome::unknown;
  KeyAnswer outcome;
  outcome.node = answer.node;
  outcome.error = std::move(error);
  outcome.in_question = may_be_ours_;
  return outcome;
}

}  // namespace sheaf::client::lock
