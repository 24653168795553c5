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

template <class Phase, class... Phases>
bool one_of(Phase phase, Phases... phases) {
  return ((phase == phases) || ...);
}

bool there(const socket::Completion& answer) {
  return answer.answered && answer.reply.status == Status::done;
}

// For a value or an error.
ComputePlan::Out out_of(const socket::Completion& answer, const Terms& terms) {
  if (!answer.answered) return Failure(runtime::make_error(answer, terms.started));
  return Found(Value{std::string(answer.reply.value), Version{std::string(answer.reply.version)},
                     answer.reply.flags});
}

OwnedOperation request(Verb verb, const std::string& key, Deadline due) {
  OwnedOperation operation(verb, key);
  operation.deadline = due;
  return operation;
}

Failure ended(Reason reason, std::string text, const Terms& terms, Now now) {
  Error error = runtime::local_error(Outcome::not_sent, reason, std::move(text));
  error.elapsed = now.mono - terms.started;
  return Failure(std::move(error));
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

ComputePlan::ComputePlan(Terms terms, const Seed& seed)
    : terms_(std::move(terms)), random_(seed), due_(terms_.due) {
  set_parent(std::move(terms_.parent));
}

// ---- What other callers of this client do

void ComputePlan::on_lead() {
  if (phase_ == Phase::following) claim();
}

void ComputePlan::on_value(SharedValue value) {
  if (phase_ != Phase::following) return;
  out_.emplace(std::move(value));
  finish();
}

void ComputePlan::on_right(Right right) {
  if (phase_ == Phase::following) win(std::move(right));
}

Right ComputePlan::give() {
  phase_ = Phase::following;
  return std::exchange(right_, {});
}

// ---- The claim

void ComputePlan::claim() {
  if (!terms_.leases) return ask(Phase::reading, request(Verb::get, terms_.key, due_));
  OwnedOperation lease = request(Verb::lease, terms_.key, due_);
  lease.ttl = terms_.lease;
  ask(Phase::leasing, std::move(lease));
}

void ComputePlan::ask(Phase phase, OwnedOperation operation) {
  phase_ = phase;
  operation_ = std::move(operation);
  wanted_ = true;
}

void ComputePlan::on_lease(const socket::Completion& answer) {
  if (!answer.answered && answer.outcome != Outcome::unsupported) return leave(answer);
  switch (answer.reply.lease) {
    case Lease::won:
      return win(Right{true, std::string(answer.reply.version), {}});
    case Lease::taken:
      return there(answer) ? leave(answer) : pause(answer.now);
    case Lease::none:
      if (there(answer)) return leave(answer);
      terms_.leases = false;  // this server has no leases
      return claim();
  }
}

void ComputePlan::on_read(const socket::Completion& answer) {
  if (!answer.answered || there(answer)) return leave(answer);
  if (phase_ == Phase::rereading) return win(std::move(right_));
  right_ = {false, {}, random_.hex(16)};
  OwnedOperation guard = request(Verb::set, terms_.guard, due_);
  guard.condition = Condition::if_absent;
  guard.value = right_.holder;
  guard.ttl = terms_.lease;
  ask(Phase::guarding, std::move(guard));
}

// It is not known whether a request without an answer has set the guard.
void ComputePlan::on_guard(const socket::Completion& answer) {
  if (there(answer)) {
    right_.version = answer.reply.version;
    return ask(Phase::rereading, request(Verb::get, terms_.key, due_));
  }
  if (answer.answered || answer.outcome != Outcome::unknown) right_ = {};
  if (answer.answered) return pause(answer.now);
  leave(answer);
}

// Pauses for a random half to all of a time that doubles.
void ComputePlan::pause(Now now) {
  const Deadline full = std::min(first_pause * (1 << std::min(pauses_++, 10u)), longest_pause);
  const auto half = static_cast<std::uint64_t>(full.count() / 2);
  wake_ = now.mono + full / 2 + Deadline(static_cast<Deadline::rep>(random_.below(half + 1)));
  phase_ = Phase::waiting;
}

void ComputePlan::win(Right right) {
  right_ = std::move(right);
  phase_ = terms_.here ? Phase::computing : Phase::queued;
}

// With a value or an error. A guard of ours would keep others waiting, so it is removed.
void ComputePlan::leave(const socket::Completion& answer) {
  out_.emplace(out_of(answer, terms_));
  extend(answer.now);
  const bool unknown = terms_.versions && right_.version.empty() && !right_.holder.empty();
  unknown ? ask(Phase::checking, request(Verb::get, terms_.guard, due_)) : free(Phase::done);
}

// What is left to do may take as long as the caller has waited at most.
void ComputePlan::extend(Now now) { due_ = now.mono + (terms_.due - terms_.started); }

void ComputePlan::on_check(const socket::Completion& answer) {
  if (there(answer) && answer.reply.value == right_.holder) {
    right_.version = answer.reply.version;
  }
  free(Phase::done);
}

// ---- The right

void ComputePlan::on_recalled(bool back, Now now) {
  if (phase_ != Phase::recalling) return;
  phase_ = Phase::computing;
  if (!back) return;
  if (!out_) {
    out_.emplace(ended(Reason::timed_out,
                       "the function that computes the value could not start in time", terms_,
                       now));
  }
  settle(now);
}

void ComputePlan::on_made(std::optional<std::string> made, Now now) {
  if (!one_of(phase_, Phase::queued, Phase::computing)) return;
  if (made) made_.emplace(std::move(*made), Version(), 0);
  settle(now);
}

void ComputePlan::on_failed(Error error, Now now) {
  if (!one_of(phase_, Phase::queued, Phase::computing)) return;
  out_.emplace(Failure(std::move(error)));
  settle(now);
}

void ComputePlan::settle(Now now) {
  extend(now);
  if (!made_ || made_->data.size() > terms_.longest_value) return free(Phase::freeing);
  OwnedOperation store = request(Verb::set, terms_.key, due_);
  store.condition = right_.by_lease ? Condition::if_version : Condition::if_absent;
  if (right_.by_lease) store.version = right_.version;
  store.value = std::move(made_->data);
  store.ttl = terms_.ttl;
  ask(Phase::storing, std::move(store));
}

// A used lease is gone; an unused one would keep others waiting.
void ComputePlan::on_stored(const socket::Completion& answer) {
  made_->data = std::move(operation_.value);
  if (there(answer)) made_->version.text = answer.reply.version;
  if (right_.by_lease && answer.answered) return finish();
  free(Phase::freeing);
}

// Gives the right back, if it can.
void ComputePlan::free(Phase phase) {
  if (right_.version.empty() && (terms_.versions || right_.holder.empty())) return finish();
  OwnedOperation removal = request(Verb::remove, right_.by_lease ? terms_.key : terms_.guard, due_);
  if (right_.by_lease || terms_.versions) {
    removal.condition = Condition::if_version;
    removal.version = right_.version;
  } else {
    removal.condition = Condition::if_value;
    removal.value = right_.holder;
  }
  ask(phase, std::move(removal));
}

void ComputePlan::finish() {
  phase_ = Phase::done;
  if (out_) return;
  if (made_) {
    out_.emplace(std::move(*made_));
  } else {
    out_.emplace(Failure(runtime::local_error(Outcome::not_sent, Reason::other, {})));
  }
}

// ---- Inputs and outputs

void ComputePlan::on_answer(unsigned, const socket::Completion& answer) {
  switch (phase_) {
    case Phase::leasing:
      return on_lease(answer);
    case Phase::reading:
    case Phase::rereading:
      return on_read(answer);
    case Phase::guarding:
      return on_guard(answer);
    case Phase::checking:
      return on_check(answer);
    case Phase::storing:
      return on_stored(answer);
    case Phase::freeing:
      return finish();
    case Phase::following:
    case Phase::waiting:
    case Phase::queued:
    case Phase::recalling:
    case Phase::computing:
    case Phase::done:
      return;
  }
}

void ComputePlan::on_deadline(Now now) {
  if (now.mono < terms_.due) {
    if (phase_ == Phase::waiting && now.mono >= wake_) claim();
    return;
  }
  if (phase_ == Phase::queued) phase_ = Phase::recalling;
  if (!one_of(phase_, Phase::following, Phase::waiting)) return;
  out_.emplace(
      ended(Reason::timed_out,
            phase_ == Phase::following
                ? "another caller of this client computes the value and did not finish in time"
                : "another client computes the value and did not finish in time",
            terms_, now));
  finish();
}

// A request of the claim ends at once, with its answer as the outcome. A value that was made is
// still stored, since others wait for it, and a function that has begun cannot be interrupted.
bool ComputePlan::on_cancel(Now now) {
  switch (phase_) {
    case Phase::following:
    case Phase::waiting:
      out_.emplace(ended(Reason::cancelled, {}, terms_, now));
      finish();
      return true;
    case Phase::queued:
      phase_ = Phase::recalling;
      out_.emplace(ended(Reason::cancelled, {}, terms_, now));
      return false;
    case Phase::computing:
      out_.emplace(ended(Reason::cancelled, {}, terms_, now));
      return false;
    case Phase::storing:
      out_.emplace(Value{operation_.value, {}, 0});
      return false;
    case Phase::freeing:
      finish();
      return false;
    case Phase::leasing:
    case Phase::reading:
    case Phase::guarding:
    case Phase::rereading:
    case Phase::checking:
    case Phase::recalling:
    case Phase::done:
      return true;
  }
  return true;
}

void ComputePlan::on_shutdown(Now) {
  if (!one_of(phase_, Phase::following, Phase::waiting, Phase::queued, Phase::computing)) return;
  out_.emplace(
      Failure(runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing")));
  finish();
}

bool ComputePlan::poll_command(calls::Command& command) {
  if (!std::exchange(wanted_, false)) return false;
  command = {};
  command.operation = operation_.view();
  command.route = terms_.key;  // to the node of the value's key, or to the stand-in of that node
  command.at_owner = false;
  return true;
}

Deadline ComputePlan::poll_deadline() const {
  if (phase_ == Phase::following || phase_ == Phase::queued) return terms_.due;
  return phase_ == Phase::waiting ? std::min(wake_, terms_.due) : never;
}

ComputePlan::Step ComputePlan::step() const {
  if (done()) return Step::end;
  if (phase_ == Phase::recalling) return Step::recall;
  if (out_) return Step::tell;
  if (phase_ == Phase::queued) return Step::queue;
  return phase_ == Phase::computing && terms_.here ? Step::compute : Step::none;
}

ComputePlan::Out ComputePlan::take_out() {
  Out out = std::move(*out_);
  out_.reset();
  return out;
}

const Value* ComputePlan::value() const noexcept {
  return out_ && *out_ ? std::get_if<Value>(&**out_) : nullptr;
}

}  // namespace sheaf::client::compute
