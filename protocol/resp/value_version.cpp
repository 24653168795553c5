// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/value_version.h"

#include <algorithm>
#include <cstdint>

#include "base/hash.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr unsigned bits_of_digit = 6;
constexpr unsigned digits_of_half = 10;  // of the low half; the other five are of the high half

}  // namespace

ValueVersion ValueVersion::of(std::string_view value) noexcept {
  const auto [low, high] = hash128(value);
  ValueVersion version;
  for (unsigned i = 0; i < size; ++i) {
    const std::uint64_t half = i < digits_of_half ? low : high;
    version.text_[i] = digits[half >> (i % digits_of_half * bits_of_digit) & 63];
  }
  return version;
}

ValueVersion ValueVersion::parse(std::string_view text) noexcept {
  ValueVersion version;
  if (text.size() != size || text.find_first_not_of(digits) != text.npos) return version;
  std::ranges::copy(text, version.text_.begin());
  return version;
}

}  // namespace sheaf::protocol::resp
