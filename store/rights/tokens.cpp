// Pure: no socket, clock, entropy, thread or callback.

#include "store/rights/tokens.h"

#include "base/text.h"

namespace sheaf::store::rights {
namespace {

// `volatile`, so that no compiler returns at the first difference.
bool equal_in_constant_time(std::string_view left, std::string_view right) noexcept {
  if (left.size() != right.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (left[i] ^ right[i]));
  }
  return difference == 0;
}

}  // namespace

bool has_token(std::string_view lines, std::string_view token) noexcept {
  bool found = false;
  while (!lines.empty()) {
    const std::string_view line = trimmed(take_until(lines, '\n'), " \t\r");
    const bool same = equal_in_constant_time(line, token);
    found = found || same;
  }
  return found && !token.empty();
}

}  // namespace sheaf::store::rights
