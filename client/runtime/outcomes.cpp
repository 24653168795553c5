// Pure: no socket, clock, entropy, thread or callback.

#include "client/runtime/outcomes.h"

namespace sheaf::client::runtime {

using protocol::Status;

Error make_error(const socket::Completion& completion, Deadline started) {
  Error error;
  error.outcome = completion.outcome;
  error.reason = completion.reason;
  error.node = completion.node;
  error.elapsed = completion.now.mono - started;
  error.text = completion.text;
  error.history = completion.history;
  error.paused = completion.paused;
  return error;
}

GetResult GetOp::convert(const protocol::Reply& reply) {
  if (reply.status != Status::done) return std::nullopt;
  return Value{std::string(reply.value), Version{std::string(reply.version)}, reply.flags,
               reply.ttl_left};
}

GetOp::Out GetOp::convert(const socket::Completion& completion, Deadline started) {
  if (!completion.answered) return Failure(make_error(completion, started));
  return convert(completion.reply);
}

SetOp::Out SetOp::convert(const socket::Completion& completion, Deadline started) {
  if (!completion.answered) return Failure(make_error(completion, started));
  const protocol::Reply& reply = completion.reply;
  return SetResult{reply.status == Status::done, Version{std::string(reply.version)}};
}

DoneOp::Out DoneOp::convert(const socket::Completion& completion, Deadline started) {
  if (!completion.answered) return Failure(make_error(completion, started));
  return completion.reply.status == Status::done;
}

CountOp::Out CountOp::convert(const socket::Completion& completion, Deadline started) {
  if (!completion.answered) return Failure(make_error(completion, started));
  if (completion.reply.status != Status::done) return CountResult();
  return CountResult(completion.reply.number);
}

RemoveResult RemoveOp::convert(const protocol::Reply& reply) {
  RemoveResult result{RemoveResult::removed, Version{std::string(reply.version)}};
  if (reply.status == Status::absent) result.found = RemoveResult::absent;
  if (reply.status == Status::not_stored) result.found = RemoveResult::value_differs;
  return result;
}

RemoveOp::Out RemoveOp::convert(const socket::Completion& completion, Deadline started) {
  if (!completion.answered) return Failure(make_error(completion, started));
  return convert(completion.reply);
}

}  // namespace sheaf::client::runtime
