// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/refusals.h"

namespace sheaf::protocol {

LocalError not_ready(Reason reason) {
  return {Outcome::not_sent, reason, "the connection is not ready"};
}

LocalError no_room() {
  return {Outcome::overloaded, Reason::queue_full,
          "the connection carries as many requests as it may"};
}

// The text is short enough to need no memory.
LocalError no_memory() noexcept {
  return {Outcome::overloaded, Reason::out_of_memory, "out of memory"};
}

}  // namespace sheaf::protocol
