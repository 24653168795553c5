// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/mqtt5/wire.h"

#include <cstring>

#include "base/text.h"

namespace sheaf::protocol::mqtt5 {
namespace {

constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
constexpr std::uint64_t high_bits = 0x80 * ones;

// Not zero exactly if one of the eight bytes is.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return (word - ones) & ~word & high_bits;
}

// The OR of `test` over all eight-byte words; the last one is filled up with `fill`.
template <class Test>
std::uint64_t over_words(std::string_view text, char fill, Test test) noexcept {
  std::uint64_t found = 0;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    found |= test(word);
  }
  std::memset(&word, fill, sizeof word);
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return found | test(word);
}

}  // namespace

bool is_mqtt_string(std::string_view text) noexcept {
  // Nearly every string on the wire is ASCII without U+0000: one pass settles those.
  const std::uint64_t odd = over_words(
      text, ' ', [](std::uint64_t word) { return (word & high_bits) | zero_bytes(word); });
  return odd == 0 || (text.find('\0') == std::string_view::npos && is_utf8(text));
}

bool has_wildcard(std::string_view topic) noexcept {
  return over_words(topic, ' ', [](std::uint64_t word) {
           return zero_bytes(word ^ ('+' * ones)) | zero_bytes(word ^ ('#' * ones));
         }) != 0;
}

}  // namespace sheaf::protocol::mqtt5
