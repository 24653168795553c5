#pragma once

// What memcached's two protocols have in common: which version of the server has what, how a time
// to live is sent, which keys and values are allowed, and how refusals are worded.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/refusals.h"
#include "protocol/server_version.h"

namespace sheaf::protocol::memcached {

inline constexpr ServerVersion meta_since{1, 6, 10};
// Meta; an older server returns a wrong `c`.
inline constexpr ServerVersion stores_return_cas_since{1, 6, 13};
inline constexpr ServerVersion misses_have_opaque_since{1, 6, 18};  // meta
inline constexpr ServerVersion touch_since{1, 4, 8};                // binary

// ---- time to live

inline constexpr std::chrono::seconds longest_relative_ttl{30 * 24 * 3600};
// The last second that each protocol can express.
inline constexpr std::int64_t last_second_binary = 0xffff'fffe;  // one below "do not create"
inline constexpr std::int64_t last_second_meta = 0x7fff'ffff;

// Returns 0 for never; up to 30 days the seconds from now, rounded up; above that the seconds since
// the Unix epoch. Refuses a time that is negative or ends after `last_second`.
std::expected<std::uint32_t, LocalError> expiry_of(std::chrono::milliseconds ttl, Now now,
                                                   std::int64_t last_second);

// ---- keys, values, versions

// True if a line may contain the key: no blank, no control character.
bool is_plain_key(std::string_view key) noexcept;
// The longest key that stays within 250 bytes as base64.
inline constexpr std::size_t max_encoded_key = 186;

std::optional<LocalError> check_binary_key(std::string_view key);
std::optional<LocalError> check_meta_key(std::string_view key);

// True if the key may be part of a get_many, in both protocols; all others are read alone.
bool is_listable_key(std::string_view key) noexcept;

// The largest value of an item. The server also counts its own overhead, the key and the flags.
std::size_t max_value(std::size_t item_size, std::size_t key_size, std::uint32_t flags) noexcept;
// Refuses a value that does not fit in an item with its key.
std::optional<LocalError> check_item(std::size_t item_size, std::size_t key_size,
                                     std::size_t value_size, std::uint32_t flags);

// Parses the version of a Reply; nothing if it is not one. 0 is not a version: it matches nothing.
std::optional<std::uint64_t> parse_cas(std::string_view version) noexcept;

// The version that the item must still have; 0: any.
std::uint64_t cas_of(const Operation& operation) noexcept;

// True for groups of statistics whose replies are names and values.
bool is_stats_group(std::string_view group) noexcept;

// ---- log-ins

// What is wrong with a user name and password for both protocols; the text is one clause.
std::optional<std::string> bad_login(std::string_view user, std::string_view password);

// ---- operations

// True if an operation has one key, its `key`.
bool needs_key(Verb verb) noexcept;

// Refuses an operation that neither protocol has, or that contradicts itself.
std::optional<LocalError> bad_combination(const Operation& operation);

}  // namespace sheaf::protocol::memcached
