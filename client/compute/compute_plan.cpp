// Pure: no socket, clock, entropy, thread or callback.

#include "client/compute/compute_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::compute {
namespace {

using protocol::Condition;
using protocol::Lease;
using protocol::OwnedOperation;
using protocol::Status;
using protocol::Verb;
using std::chrono::milliseconds;

constexpr std::string_view guard_suffix = ":sheaf-lease";
// The longest memcached key that may hold any byte, in both protocols.
constexpr std::size_t longest_guard = 186;

// Between two checks for a value that another caller computes.
constexpr Deadline first_pause = milliseconds(5);
constexpr Deadline longest_pause = milliseconds(100);

std::string hex(std::uint64_t number) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto place = text.rbegin(); place != text.rend(); ++place, number >>= 4) {
    *place = digits[number & 15];
  }
  return text;
}

OwnedOperation on_key(Verb verb, const std::string& key, Deadline due) {
  OwnedOperation operation(verb, key);
  operation.deadline = due;
  return operation;
}

OwnedOperation remove_guard(const Terms& terms, const std::string& holder,
                            const std::string& version, Deadline due) {
  OwnedOperation operation = on_key(Verb::remove, terms.guard, due);
  operation.condition = terms.versions ? Condition::if_version : Condition::if_value;
  if (terms.versions) {
    operation.version = version;
  } else {
    operation.value = holder;
  }
  return operation;
}

// All commands go to the node of the value's key, or to the stand-in of that node.
calls::Command command_of(const Terms& terms, const OwnedOperation& operation) {
  calls::Command command;
  command.operation = operation.view();
  command.route = terms.key;
  command.at_owner = false;
  return command;
}

// A guard of unknown version is left to expire.
bool can_remove_guard(const Terms& terms, const std::string& version) {
  return !terms.versions || !version.empty();
}

}  // namespace

// A longer key is represented by two hashes. If those of two keys collide, one waits needlessly.
std::string guard_of(std::string_view key) {
  std::string guard(key);
  if (guard.size() + guard_suffix.size() > longest_guard) {
    guard = hex(hash64(key)) + hex(hash64(key, 1));
  }
  return guard.append(guard_suffix);
}

// ---- ClaimPlan

ClaimPlan::ClaimPlan(Terms terms, Deadline started, Deadline due, const Seed& seed, Place place)
    : terms_(std::move(terms)), started_(started), due_(due), random_(seed), place_(place) {
  set_parent(std::move(terms_.parent));
}

void ClaimPlan::start(Now) {
  if (phase_ == Phase::done) return;
  if (place_ == Place::leader) return begin();
  phase_ = Phase::following;
}

void ClaimPlan::on_lead() {
  if (phase_ == Phase::following) begin();
}

void ClaimPlan::on_value(SharedValue value) {
  if (phase_ != Phase::following) return;
  Claim claim;
  claim.shared = std::move(value);
  finish(std::move(claim));
}

void ClaimPlan::on_right(Right right) {
  if (phase_ != Phase::following && phase_ != Phase::idle) return;
  Claim claim;
  claim.right = std::move(right);
  finish(std::move(claim));
}

void ClaimPlan::begin() {
  if (!terms_.leases) return ask(Phase::reading, on_key(Verb::get, terms_.key, due_));
  OwnedOperation lease = on_key(Verb::lease, terms_.key, due_);
  lease.ttl = terms_.lease;
  ask(Phase::leasing, std::move(lease));
}

void ClaimPlan::ask(Phase phase, OwnedOperation operation) {
  phase_ = phase;
  operation_ = std::move(operation);
  wanted_ = true;
}

void ClaimPlan::set_guard() {
  OwnedOperation guard = on_key(Verb::set, terms_.guard, due_);
  guard.condition = Condition::if_absent;
  guard.value = terms_.holder;
  guard.ttl = terms_.lease;
  ask(Phase::guarding, std::move(guard));
}

void ClaimPlan::finish(Out out) {
  out_.emplace(std::move(out));
  phase_ = Phase::done;
}

void ClaimPlan::give(const socket::Completion& answer) {
  Claim claim;
  claim.value = Value{std::string(answer.reply.value), Version{std::string(answer.reply.version)},
                      answer.reply.flags};
  finish(std::move(claim));
}

// Pauses for a random half to all of a time that doubles.
void ClaimPlan::pause(Now now) {
  const Deadline full = std::min(first_pause * (1 << std::min(pauses_++, 10u)), longest_pause);
  const auto half = static_cast<std::uint64_t>(full.count() / 2);
  wake_ = now.mono + full / 2 + Deadline(static_cast<Deadline::rep>(random_.below(half + 1)));
  phase_ = Phase::waiting;
}

void ClaimPlan::on_lease(const socket::Completion& answer) {
  const bool there = answer.reply.status == Status::done;
  switch (answer.reply.lease) {
    case Lease::won: {
      Claim claim;
      claim.right = Right{true, std::string(answer.reply.version), {}};
      return finish(std::move(claim));
    }
    case Lease::taken:
      return there ? give(answer) : pause(answer.now);
    case Lease::none:
      if (there) return give(answer);
      terms_.leases = false;  // this server has no leases
      return begin();
  }
}

void ClaimPlan::on_answer(unsigned, const socket::Completion& answer) {
  if (phase_ == Phase::done) return;
  if (!answer.answered) {
    if (phase_ == Phase::leasing && answer.outcome == Outcome::unsupported) {
      terms_.leases = false;
      return begin();
    }
    return finish(Failure(runtime::make_error(answer, started_)));
  }
  const bool there = answer.reply.status == Status::done;
  switch (phase_) {
    case Phase::leasing:
      return on_lease(answer);
    case Phase::reading:
      return there ? give(answer) : set_guard();
    case Phase::guarding:
      if (!there) return pause(answer.now);
      guard_version_ = answer.reply.version;
      return ask(Phase::rereading, on_key(Verb::get, terms_.key, due_));
    case Phase::rereading: {
      if (there) {
        frees_guard_ = can_remove_guard(terms_, guard_version_);
        return give(answer);
      }
      Claim claim;
      claim.right = Right{false, guard_version_, terms_.holder};
      return finish(std::move(claim));
    }
    case Phase::idle:
    case Phase::following:
    case Phase::waiting:
    case Phase::done:
      return;
  }
}

void ClaimPlan::on_deadline(Now now) {
  if (!waits()) return;
  if (now.mono < due_) {
    if (phase_ == Phase::waiting && now.mono >= wake_) begin();
    return;
  }
  Error error = runtime::local_error(
      Outcome::not_sent, Reason::timed_out,
      phase_ == Phase::following
          ? "another caller of this client computes the value and did not finish in time"
          : "another client computes the value and did not finish in time");
  error.elapsed = now.mono - started_;
  finish(Failure(std::move(error)));
}

// A request under way ends at once, with its answer as the outcome. A guard of ours would keep
// others waiting, so it is removed.
bool ClaimPlan::on_cancel(Now now) {
  frees_guard_ = phase_ == Phase::rereading && can_remove_guard(terms_, guard_version_);
  if (!waits()) return true;
  Error error = runtime::local_error(Outcome::not_sent, Reason::cancelled, {});
  error.elapsed = now.mono - started_;
  finish(Failure(std::move(error)));
  return true;
}

void ClaimPlan::on_shutdown(Now) {
  if (!waits()) return;
  finish(Failure(runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing")));
}

Deadline ClaimPlan::poll_deadline() const {
  if (phase_ == Phase::following) return due_;
  return phase_ == Phase::waiting ? std::min(wake_, due_) : never;
}

bool ClaimPlan::poll_command(calls::Command& command) {
  if (std::exchange(wanted_, false)) {
    command = command_of(terms_, operation_);
    return true;
  }
  if (!std::exchange(frees_guard_, false)) return false;
  operation_ = remove_guard(terms_, terms_.holder, guard_version_, due_);
  command = command_of(terms_, operation_);
  return true;
}

// ---- SettlePlan

SettlePlan::SettlePlan(Terms terms, Right right, std::optional<std::string> value, Deadline due)
    : terms_(std::move(terms)), right_(std::move(right)), value_(std::move(value)), due_(due) {
  set_parent(std::move(terms_.parent));
}

SettlePlan::SettlePlan(Terms terms, Right right, Deadline begin_by)
    : terms_(std::move(terms)),
      right_(std::move(right)),
      begin_by_(begin_by),
      phase_(Phase::computing) {
  set_parent(std::move(terms_.parent));
}

void SettlePlan::start(Now) {
  if (phase_ == Phase::idle) settle();
}

void SettlePlan::on_begun() noexcept {
  begin_by_ = never;
  if (overdue()) phase_ = Phase::computing;
}

void SettlePlan::on_deadline(Now now) {
  if (computing() && now.mono >= begin_by_) phase_ = Phase::overdue;
}

void SettlePlan::on_made(std::optional<std::string> value, Deadline due) {
  if (!computing()) return;
  value_ = std::move(value);
  due_ = due;
  settle();
}

void SettlePlan::abandon() noexcept {
  if (computing()) phase_ = Phase::done;
}

void SettlePlan::settle() {
  if (!value_ || value_->size() > terms_.longest_value) return free();
  OwnedOperation store = on_key(Verb::set, terms_.key, due_);
  store.condition = right_.by_lease ? Condition::if_version : Condition::if_absent;
  if (right_.by_lease) store.version = right_.version;
  store.value = std::move(*value_);
  store.ttl = terms_.ttl;
  ask(Phase::storing, std::move(store));
}

void SettlePlan::ask(Phase phase, OwnedOperation operation) {
  phase_ = phase;
  operation_ = std::move(operation);
  wanted_ = true;
}

// A used lease is gone; an unused one would keep others waiting.
void SettlePlan::free() {
  if (right_.by_lease) {
    OwnedOperation lease = on_key(Verb::remove, terms_.key, due_);
    lease.condition = Condition::if_version;
    lease.version = right_.version;
    return ask(Phase::freeing, std::move(lease));
  }
  if (can_remove_guard(terms_, right_.version)) {
    return ask(Phase::freeing, remove_guard(terms_, right_.holder, right_.version, due_));
  }
  phase_ = Phase::done;
}

void SettlePlan::on_answer(unsigned, const socket::Completion& answer) {
  if (phase_ == Phase::freeing) phase_ = Phase::done;
  if (phase_ != Phase::storing) return;
  value_ = std::move(operation_.value);
  const bool stored = answer.answered && answer.reply.status == Status::done;
  if (stored) stored_.text = answer.reply.version;
  if (right_.by_lease && answer.answered) {
    phase_ = Phase::done;
    return;
  }
  free();
}

// The value exists and others wait for it, so it is still stored.
bool SettlePlan::on_cancel(Now) {
  cancelled_ = true;
  if (phase_ == Phase::storing) value_ = operation_.value;
  return false;
}

bool SettlePlan::poll_command(calls::Command& command) {
  if (!std::exchange(wanted_, false)) return false;
  command = command_of(terms_, operation_);
  return true;
}

}  // namespace sheaf::client::compute
