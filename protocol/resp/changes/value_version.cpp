// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/value_version.h"

#include <algorithm>
#include <cstdint>

#include "base/hash.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned bits_of_digit = 6;
constexpr unsigned digits_of_low = 10;  // the other five hold the high half

// Writes the low bits first.
void write(char* to, const char* end, std::uint64_t half) noexcept {
  for (; to != end; half >>= bits_of_digit) *to++ = digits[half & 63];
}

}  // namespace

ValueVersion ValueVersion::of(std::string_view value) noexcept {
  const auto [low, high] = hash128(value);
  ValueVersion version;
  char* const text = version.text_.data();
  write(text, text + digits_of_low, low);
  write(text + digits_of_low, text + size, high);
  return version;
}

ValueVersion ValueVersion::parse(std::string_view text) noexcept {
  ValueVersion version;
  if (text.size() != size || text.find_first_not_of(digits) != text.npos) return version;
  std::ranges::copy(text, version.text_.begin());
  return version;
}

}  // namespace sheaf::protocol::resp
