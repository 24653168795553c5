// Pure: no socket, clock, entropy, thread or callback.

#include "base/refusal.h"

#include <utility>

namespace sheaf::refusals {

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

}  // namespace sheaf::refusals
