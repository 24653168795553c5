// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/lock_key.h"

#include <utility>

#include "client/runtime/outcomes.h"

namespace sheaf::client::lock {

void StoreLockKey::begin(Request request, Deadline deadline, std::uint64_t connection, Now now) {
  request_ = request;
  deadline_ = deadline;
  connection_ = connection;
  sent_at_ = now.mono;
  wanted_ = true;
  ++id_;
}

bool StoreLockKey::poll_command(calls::Command& command) {
  if (!std::exchange(wanted_, false)) return false;
  command = {};
  command.id = id_;
  command.connection = connection_;
  protocol::Operation& operation = command.operation;
  operation.key = item_.name;
  operation.value = item_.nonce;
  operation.deadline = deadline_;
  if (request_ == Request::release) {
    operation.verb = protocol::Verb::remove;
    operation.condition = protocol::Condition::if_value;
  } else {
    operation.verb = protocol::Verb::set;
    operation.condition = protocol::Condition::if_absent_or_equal;
    operation.ttl = item_.lease;
  }
  return true;
}

std::optional<KeyAnswer> StoreLockKey::on_answer(unsigned id, const socket::Completion& answer) {
  if (id != id_) return std::nullopt;
  KeyAnswer end;
  end.sent_at = sent_at_;
  end.version = answer.reply.version;
  end.connection = answer.connection;
  end.node = answer.node;
  if (!answer.answered) {
    end.error = runtime::make_error(answer, sent_at_);
    end.in_question = answer.outcome == Outcome::unknown;
  } else if (answer.reply.status == protocol::Status::done) {
    end.end = KeyAnswer::End::done;
  } else {
    end.end = request_ == Request::release ? KeyAnswer::End::gone : KeyAnswer::End::taken;
  }
  return end;
}

}  // namespace sheaf::client::lock
