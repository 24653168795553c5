// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/changes/value_version.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/hash.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint64_t in_each = 0x0101010101010101;

// Bytes of 0 or 1: where the byte of `sixes`, which is below 64, is at least `least`.
constexpr std::uint64_t at_least(std::uint64_t sixes, std::uint64_t least) noexcept {
  return ((sixes + (128 - least) * in_each) & (128 * in_each)) >> 7;
}

// Eight digits, the first in the lowest byte, for the 48 low bits, the lowest first.
constexpr std::uint64_t digits_of(std::uint64_t bits) noexcept {
  // Groups of 24 bits in 32, of 12 in 16, of 6 in 8.
  std::uint64_t sixes = (bits & 0xffffff) | ((bits & 0xffffff000000) << 8);
  sixes = (sixes & 0x00000fff00000fff) | ((sixes & 0x00fff00000fff000) << 4);
  sixes = (sixes & 0x003f003f003f003f) | ((sixes & 0x0fc00fc00fc00fc0) << 2);
  // From one range of `digits` to the next; no byte overflows on the way.
  std::uint64_t text = sixes + 'A' * in_each;
  text += at_least(sixes, 26) * ('a' - 'Z' - 1);
  text -= at_least(sixes, 52) * ('z' + 1 - '0');
  text -= at_least(sixes, 62) * ('9' + 1 - '-');
  text += at_least(sixes, 63) * ('_' - '-' - 1);
  return text;
}

constexpr bool spells(unsigned place) noexcept {
  for (std::uint64_t six = 0; six < digits.size(); ++six) {
    if (static_cast<char>(digits_of(six << 6 * place) >> 8 * place) != digits[six]) return false;
  }
  return true;
}
static_assert(spells(0) && spells(1) && spells(3) && spells(4) && spells(7));

void write(char* to, std::uint64_t text, std::size_t size) noexcept {
  if constexpr (std::endian::native == std::endian::big) text = std::byteswap(text);
  std::memcpy(to, &text, size);
}

}  // namespace

ValueVersion ValueVersion::of(std::string_view value) noexcept {
  const auto [low, high] = hash128(value);
  ValueVersion version;
  char* const text = version.text_.data();
  write(text, digits_of(low), 8);
  write(text + 8, digits_of((low >> 48 & 0xfff) | high << 12), size - 8);
  return version;
}

ValueVersion ValueVersion::parse(std::string_view text) noexcept {
  ValueVersion version;
  if (text.size() != size || text.find_first_not_of(digits) != text.npos) return version;
  std::ranges::copy(text, version.text_.begin());
  return version;
}

}  // namespace sheaf::protocol::resp
