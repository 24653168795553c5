#pragma once

// What the transcripts of ComputePlan have in common: its terms and the answers it gets.

#include <chrono>
#include <string_view>

#include "client/compute/compute_plan.h"

namespace sheaf::client::compute {

inline Terms terms(bool leases, bool here = true) {
  Terms all;
  all.key = "key";
  all.guard = guard_of("key");
  all.lease = std::chrono::seconds(5);
  all.ttl = std::chrono::seconds(60);
  all.due = std::chrono::seconds(3);
  all.leases = all.versions = leases;
  all.here = here;
  return all;
}

inline socket::Completion answer(protocol::Status status) {
  socket::Completion completion;
  completion.answered = true;
  completion.reply.status = status;
  return completion;
}

inline socket::Completion value(std::string_view data) {
  socket::Completion completion = answer(protocol::Status::done);
  completion.reply.value = data;
  completion.reply.version = "7";
  completion.reply.flags = 3;
  return completion;
}

inline socket::Completion lease(protocol::Lease lease) {
  socket::Completion completion = answer(protocol::Status::absent);
  completion.reply.lease = lease;
  completion.reply.version = "9";
  return completion;
}

inline socket::Completion failure(Outcome outcome, Reason reason) {
  socket::Completion completion;
  completion.outcome = outcome;
  completion.reason = reason;
  completion.node = "n:1";
  return completion;
}

}  // namespace sheaf::client::compute
