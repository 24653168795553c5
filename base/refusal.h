#pragma once

// Why an operation is refused before any of it is sent, in sentences that all protocols share.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string>
#include <string_view>

#include <sheaf/result.h>

namespace sheaf {

struct LocalError {
  Outcome outcome = Outcome::invalid;
  Reason reason = Reason::bad_argument;
  std::string text;
};

namespace refusals {

LocalError invalid(std::string text);
LocalError unsupported(std::string text);
// "the value of 12 bytes is above value_limit of 10 bytes"
LocalError too_large(std::string_view what, std::uint64_t size, std::string_view limit_name,
                     std::uint64_t limit);

}  // namespace refusals
}  // namespace sheaf
