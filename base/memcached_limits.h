#pragma once

// Which keys, values and times to live memcached takes, by its two protocols. The sessions refuse
// by these rules, and a MigratingCache looks at them before it begins a write of several steps.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/refusal.h"

namespace sheaf::memcached_limits {

// ---- time to live

inline constexpr std::chrono::seconds longest_relative_ttl{30 * 24 * 3600};
// The last second that each protocol can express.
inline constexpr std::int64_t last_second_binary = 0xffff'fffe;  // one below "do not create"
inline constexpr std::int64_t last_second_meta = 0x7fff'ffff;

// Returns 0 for never; up to 30 days the seconds from now, rounded up; above that the seconds since
// the Unix epoch. Refuses a time that is negative or ends after `last_second`.
std::expected<std::uint32_t, LocalError> expiry_of(std::chrono::milliseconds ttl, Now now,
                                                   std::int64_t last_second);

// ---- keys and values

inline constexpr std::size_t max_key_length = 250;
// The longest key that stays within 250 bytes as base64.
inline constexpr std::size_t max_encoded_key = 186;

// True if a line may contain the key: no blank, no control character.
bool is_plain_key(std::string_view key) noexcept;

std::optional<LocalError> check_binary_key(std::string_view key);
std::optional<LocalError> check_meta_key(std::string_view key);

// The largest value of an item. The server also counts its own overhead, the key and the flags.
std::size_t max_value(std::size_t item_size, std::size_t key_size, std::uint32_t flags) noexcept;
// Refuses a value that does not fit in an item with its key.
std::optional<LocalError> check_item(std::size_t item_size, std::size_t key_size,
                                     std::size_t value_size, std::uint32_t flags);

}  // namespace sheaf::memcached_limits
