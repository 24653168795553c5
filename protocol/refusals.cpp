// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/refusals.h"

#include <utility>

namespace sheaf::protocol {

LocalError invalid(std::string text) {
  return {Outcome::invalid, Reason::bad_argument, std::move(text)};
}

LocalError unsupported(std::string text) {
  return {Outcome::unsupported, Reason::bad_argument, std::move(text)};
}

LocalError too_large(std::string_view what, std::uint64_t size, std::string_view limit_name,
                     std::uint64_t limit) {
  std::string text(what);
  text.append(" of ").append(std::to_string(size)).append(" bytes is above ");
  text.append(limit_name).append(" of ").append(std::to_string(limit)).append(" bytes");
  return {Outcome::invalid, Reason::too_large, std::move(text)};
}

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
