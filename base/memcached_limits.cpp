// Pure: no socket, clock, entropy, thread or callback.

#include "base/memcached_limits.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace sheaf::memcached_limits {

using refusals::invalid;
using refusals::too_large;

namespace {

// Overhead of an item in a 64-bit server: header, CAS, and the line end after the value.
constexpr std::size_t item_overhead = 48 + 8 + 2;

bool is_blank_or_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f;
}

}  // namespace

std::expected<std::uint32_t, LocalError> expiry_of(std::chrono::milliseconds ttl, Now now,
                                                   std::int64_t last_second) {
  using std::chrono::ceil;
  using std::chrono::seconds;
  if (ttl.count() < 0) return std::unexpected(invalid("the time to live is negative"));
  const auto relative = ceil<seconds>(ttl);
  if (relative <= longest_relative_ttl) return static_cast<std::uint32_t>(relative.count());
  // The server reads a larger number as a point in time.
  const auto too_late = std::chrono::milliseconds(last_second * 1000) - now.wall;
  if (ttl > too_late) {
    return std::unexpected(invalid("the time to live ends after second " +
                                   std::to_string(last_second) +
                                   " of the Unix epoch, the last that the protocol can express"));
  }
  return static_cast<std::uint32_t>(ceil<seconds>(now.wall + ttl).count());
}

// Every key is checked here, so it takes sixteen bytes at a time; the last sixteen may overlap
// those before.
bool is_plain_key(std::string_view key) noexcept {
  using Bytes [[gnu::vector_size(16)]] = unsigned char;
  if (key.size() < sizeof(Bytes)) return std::ranges::none_of(key, is_blank_or_control);
  const auto found_at = [&](std::size_t at) {
    Bytes bytes;
    std::memcpy(&bytes, key.data() + at, sizeof bytes);
    return (bytes <= 0x20) | (bytes == 0x7f);
  };
  const std::size_t last = key.size() - sizeof(Bytes);
  auto found = found_at(last);
  for (std::size_t at = 0; at < last; at += sizeof(Bytes)) found |= found_at(at);
  std::array<std::uint64_t, 2> any{};
  std::memcpy(any.data(), &found, sizeof any);
  return (any[0] | any[1]) == 0;
}

std::optional<LocalError> check_binary_key(std::string_view key) {
  if (key.empty()) return invalid("the key is empty");
  if (key.size() > max_key_length) {
    return too_large("the key", key.size(), "memcached's longest key", max_key_length);
  }
  return std::nullopt;
}

std::optional<LocalError> check_meta_key(std::string_view key) {
  if (auto error = check_binary_key(key)) return error;
  if (key.size() > max_encoded_key && !is_plain_key(key)) {
    return too_large("the key with blanks or control characters", key.size(),
                     "the longest such key of the meta protocol", max_encoded_key);
  }
  return std::nullopt;
}

std::size_t max_value(std::size_t item_size, std::size_t key_size, std::uint32_t flags) noexcept {
  const std::size_t around = item_overhead + key_size + 1 + (flags != 0 ? sizeof flags : 0);
  return item_size > around ? item_size - around : 0;
}

std::optional<LocalError> check_item(std::size_t item_size, std::size_t key_size,
                                     std::size_t value_size, std::uint32_t flags) {
  const std::size_t longest = max_value(item_size, key_size, flags);
  if (value_size <= longest) return std::nullopt;
  return too_large("the value", value_size, "the largest that fits into an item of the server,",
                   longest);
}

}  // namespace sheaf::memcached_limits
