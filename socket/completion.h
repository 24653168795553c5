#pragma once

// Completion: how a request ended.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: a plain value.

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "protocol/operation.h"

namespace sheaf::socket {

// The views live while RequestSink::on_done runs.
struct Completion {
  bool answered = false;  // `reply` is valid; its status is not `refused`
  protocol::Reply reply;
  Outcome outcome = Outcome::unknown;  // if not answered
  Reason reason = Reason::other;
  std::string_view text;
  std::string_view node;
  std::string_view history;     // if not answered: the node's latest changes of health
  bool paused = false;          // if not answered: our own process did not run
  bool not_understood = false;  // if not answered: as protocol::CloseReason
  // If answered: the number of the connection that carried it, which is never used again. 0: a
  // request that follows from this one may use any connection.
  std::uint64_t connection = 0;
  Now now;
};

}  // namespace sheaf::socket
