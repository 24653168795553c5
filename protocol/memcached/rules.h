#pragma once

// What memcached's two protocols have in common: which version of the server has what, how a time
// to live is sent, which keys and values are allowed, and how refusals are worded.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/memcached_limits.h"
#include "protocol/refusals.h"
#include "protocol/server_version.h"

namespace sheaf::protocol::memcached {

inline constexpr ServerVersion meta_since{1, 6, 10};
// Meta; an older server returns a wrong `c`.
inline constexpr ServerVersion stores_return_cas_since{1, 6, 13};
inline constexpr ServerVersion misses_have_opaque_since{1, 6, 18};  // meta
inline constexpr ServerVersion touch_since{1, 4, 8};                // binary

// ---- time to live

using memcached_limits::expiry_of;
using memcached_limits::last_second_binary;
using memcached_limits::last_second_meta;

// ---- keys, values, versions

using memcached_limits::check_binary_key;
using memcached_limits::check_item;
using memcached_limits::check_meta_key;
using memcached_limits::is_plain_key;
using memcached_limits::max_encoded_key;
using memcached_limits::max_value;

// True if the key may be part of a get_many, in both protocols; all others are read alone.
bool is_listable_key(std::string_view key) noexcept;

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
