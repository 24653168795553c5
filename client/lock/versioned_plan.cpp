// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/versioned_plan.h"

#include "client/lock/cas_lock_key.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::lock {

using protocol::Condition;
using protocol::Operation;
using protocol::Status;
using protocol::Verb;

const Tenure::Noted* VersionedPlan::noted() const {
  const auto found = tenure_->noted.find(terms_.key);
  return found == tenure_->noted.end() ? nullptr : &found->second;
}

// A read, and a write that compares nothing, use the lock's connection if the key is on the same
// node.
std::uint64_t VersionedPlan::connection() const {
  const Tenure::Noted* const note = step_ == Step::writing ? noted() : nullptr;
  if (note != nullptr && !note->absent()) return note->connection;
  return terms_.bound ? tenure_->connection : 0;
}

void VersionedPlan::compare(Operation& operation) {
  const Tenure::Noted* const note = noted();
  if (note == nullptr) return;
  version_ = note->version;
  operation.condition = note->absent() ? Condition::if_absent : Condition::if_version;
  operation.version = version_;
}

void VersionedPlan::forget() {
  if (noted() != nullptr && noted()->version == version_) tenure_->noted.erase(terms_.key);
}

// ---- read

Operation VersionedRead::operation() {
  Operation operation;
  operation.key = terms_.key;
  return operation;
}

FencedPlan::Step VersionedRead::on_reply(const socket::Completion& answer) {
  const protocol::Reply& reply = answer.reply;
  const bool there = reply.status == Status::done;
  if (there && reply.version.empty()) {
    error_ = no_versions(answer.node);
  } else if (!tenure_->note(terms_.key, there ? reply.version : "", answer.connection)) {
    error_ = too_many_noted();
  } else if (there) {
    result_ = Value{std::string(reply.value), Version{std::string(reply.version)}, reply.flags};
  }
  return Step::over;
}

// ---- write

Operation VersionedWrite::operation() {
  Operation operation = write_operation(terms_, condition_);
  const bool present = noted() != nullptr && !noted()->absent();
  const bool wants_present = condition_ == SetCondition::if_present;
  if (condition_ == SetCondition::always || (wants_present && present)) compare(operation);
  if (condition_ == SetCondition::if_version) {
    compare(operation);
    operation.condition = Condition::if_version;  // nothing was read: refused
  }
  return operation;
}

// If the server does not return the new version, the old one stays noted: the next write is not
// stored, and the key must be read. If there is no room for another note, the write is not noted.
FencedPlan::Step VersionedWrite::on_reply(const socket::Completion& answer) {
  const protocol::Reply& reply = answer.reply;
  result_ = {reply.status == Status::done, Version{std::string(reply.version)}};
  if (!result_.stored) {
    forget();
  } else if (!reply.version.empty()) {
    static_cast<void>(tenure_->note(terms_.key, reply.version, answer.connection));
  }
  return Step::over;
}

// ---- remove

FencedPlan::Step VersionedRemove::first() const {
  const bool looks = noted() != nullptr && noted()->absent() && !if_value_;
  return looks ? Step::getting : Step::writing;
}

Operation VersionedRemove::operation() {
  Operation operation;
  operation.key = terms_.key;
  if (step_ == Step::getting) return operation;
  operation.verb = Verb::remove;
  if (if_value_) {
    operation.condition = Condition::if_value;
    operation.value = *if_value_;
  } else {
    compare(operation);
  }
  return operation;
}

FencedPlan::Step VersionedRemove::on_reply(const socket::Completion& answer) {
  result_ = runtime::RemoveOp::convert(answer.reply);
  if (step_ == Step::getting && result_ == RemoveResult::removed) {
    result_ = {RemoveResult::value_differs, {}};  // the key that was read as absent exists again
  }
  if (result_ == RemoveResult::value_differs) {
    forget();
    return Step::over;
  }
  if (noted() != nullptr) static_cast<void>(tenure_->note(terms_.key, {}, answer.connection));
  return Step::over;
}

}  // namespace sheaf::client::lock
