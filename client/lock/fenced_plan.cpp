// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/fenced_plan.h"

#include "base/text.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::lock {

using protocol::Condition;
using protocol::Operation;
using protocol::Status;
using protocol::Verb;

Error not_held(std::string_view lock, std::string_view why) {
  std::string text = "the lock " + printable(lock) + " is no longer held";
  if (!why.empty()) text.append(": ").append(why);
  return runtime::local_error(Outcome::not_sent, Reason::lock_lost, std::move(text));
}

Error too_many_noted() {
  return runtime::local_error(Outcome::overloaded, Reason::queue_full,
                              "the guard has noted " + std::to_string(Tenure::max_noted) +
                                  " keys that it has read, which is the limit");
}

void FencedPlan::start(Now now) { enter(first(), now); }

// The lock is checked before each request, because it may have been lost since the last one.
void FencedPlan::enter(Step step, Now now) {
  step_ = step;
  if (step == Step::over) return;
  if (terms_.controls.check && !tenure_->usable(now))
    return fail(not_held(tenure_->name, tenure_->loss));
  if (now.mono >= terms_.deadline) {
    return fail(runtime::local_error(Outcome::not_sent, Reason::timed_out,
                                     "other clients kept writing the key"));
  }
  if (tenure_->in_doubt) {
    step_ = Step::token;
    return;
  }
  token_ = tenure_->token;
  want_ = true;
}

void FencedPlan::fail(Error error) {
  error_ = std::move(error);
  step_ = Step::over;
  want_ = false;
}

void FencedPlan::on_tenure(Now now) {
  if (step_ != Step::token) return;
  if (!tenure_->usable(now) || !tenure_->in_doubt) enter(first(), now);
}

void FencedPlan::on_answer(unsigned, const socket::Completion& answer) {
  if (step_ == Step::over) return;
  if (answer.answered) return enter(on_reply(answer), answer.now);
  in_doubt_ = token_counts() && step_ == Step::writing && answer.outcome == Outcome::unknown;
  fail(runtime::make_error(answer, terms_.started));
}

void FencedPlan::on_deadline(Now) {
  if (step_ != Step::token) return;
  fail(runtime::local_error(
      Outcome::not_sent, Reason::timed_out,
      "the outcome of an earlier write is unknown, and no new token came in time"));
}

// A request in flight ends at once, and its answer says what is known of it.
bool FencedPlan::on_cancel(Now now) {
  if (step_ == Step::token) {
    Error error = runtime::local_error(Outcome::not_sent, Reason::cancelled, {});
    error.elapsed = now.mono - terms_.started;
    fail(std::move(error));
  }
  return true;
}

void FencedPlan::on_shutdown(Now) {
  if (step_ == Step::token || want_) {
    fail(runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing"));
  }
}

bool FencedPlan::poll_command(calls::Command& command) {
  if (!want_) return false;
  want_ = false;
  command = {};
  command.id = 1;
  command.operation = operation();
  command.operation.deadline = terms_.deadline;
  command.connection = connection();
  return true;
}

Deadline FencedPlan::poll_deadline() const {
  return step_ == Step::token ? terms_.deadline : never;
}

// ---- read

Operation FencedRead::operation() {
  Operation operation;
  operation.key = terms_.key;
  if (step_ == Step::getting) return operation;
  operation.verb = Verb::set;
  operation.condition = Condition::if_absent_or_equal;
  operation.value = result_->data;
  operation.ttl = terms_.ttl;
  operation.persist = terms_.persist;
  operation.fence = fence();
  return operation;
}

FencedPlan::Step FencedRead::on_reply(const socket::Completion& answer) {
  const protocol::Reply& reply = answer.reply;
  if (step_ == Step::writing) {
    if (reply.status != Status::done) return Step::getting;
    result_->version = {std::string(reply.version)};
    return Step::over;
  }
  if (reply.status == Status::done) {
    tenure_->noted.erase(terms_.key);
    result_ = Value{std::string(reply.value), Version{std::string(reply.version)}, reply.flags};
    return terms_.controls.claim ? Step::writing : Step::over;
  }
  result_.reset();
  if (!terms_.controls.claim) return Step::over;
  if (!tenure_->note(terms_.key, {}, answer.connection)) error_ = too_many_noted();
  return Step::over;
}

// ---- write

Operation write_operation(const FencedTerms& terms, SetCondition condition) {
  Operation operation;
  operation.verb = Verb::set;
  operation.key = terms.key;
  operation.value = terms.value;
  operation.ttl = terms.ttl;
  operation.persist = terms.persist;
  switch (condition) {
    case SetCondition::always:
      break;
    case SetCondition::if_absent:
      operation.condition = Condition::if_absent;
      break;
    case SetCondition::if_absent_or_equal:
      operation.condition = Condition::if_absent_or_equal;
      break;
    case SetCondition::if_present:
      operation.condition = Condition::if_present;
      break;
    case SetCondition::if_version:
      operation.condition = Condition::if_version;
      break;
  }
  return operation;
}

// The state store has no if_version and refuses it; the fence protects better than a version.
Operation FencedWrite::operation() {
  Operation operation = write_operation(terms_, condition_);
  operation.fence = fence();
  if (condition_ == SetCondition::always && tenure_->noted.contains(terms_.key)) {
    operation.condition = Condition::if_absent;
  }
  return operation;
}

// Stored or not, the key exists now, so the note that it is absent is out of date.
FencedPlan::Step FencedWrite::on_reply(const socket::Completion& answer) {
  tenure_->noted.erase(terms_.key);
  result_ = {answer.reply.status == Status::done, Version{std::string(answer.reply.version)}};
  return Step::over;
}

// ---- remove

Operation FencedRemove::operation() {
  Operation operation;
  operation.verb = Verb::remove;
  operation.key = terms_.key;
  operation.fence = fence();
  if (if_value_) {
    operation.condition = Condition::if_value;
    operation.value = *if_value_;
  }
  return operation;
}

FencedPlan::Step FencedRemove::on_reply(const socket::Completion& answer) {
  result_ = runtime::RemoveOp::convert(answer.reply);
  return Step::over;
}

}  // namespace sheaf::client::lock
