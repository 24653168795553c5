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

// Views live while RequestSink::on_done runs.
struct Completion {
  bool answered = false;  // `reply` holds; its status is not `refused`
  protocol::Reply reply;
  Outcome outcome = Outcome::unknown;  // not answered
  Reason reason = Reason::other;
  std::string_view text;
  std::string_view node;
  std::string_view history;  // not answered: the node's latest changes of health
  bool paused = false;       // not answered: our own process did not run
  bool no_tls = false;  // not answered: no connection to the node got through its TLS handshake
  // answered: which connection carried it, a number that is never used again. 0: a request that
  // follows from this one may go over any.
  std::uint64_t connection = 0;
  Now now;
};

}  // namespace sheaf::socket
