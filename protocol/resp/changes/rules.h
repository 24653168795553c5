#pragma once

// Which operations a session of the Redis protocol accepts, and how it sends a time to live.
//
// Thread rule: plain values and functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/output_queue.h"
#include "protocol/refusals.h"
#include "protocol/resp/cluster/server_facts.h"

namespace sheaf::protocol::resp {

// Servers accept keys of 512 MiB. Ours are copied into the output, and copies have a limit.
inline constexpr std::size_t longest_key = OutputQueue::copy_limit;

// Versions of Redis; Valkey and Garnet have always had these commands.
inline constexpr ServerVersion getex_since{6, 2, 0};
inline constexpr ServerVersion set_get_since{6, 2, 0};
inline constexpr ServerVersion set_nx_get_since{7, 0, 0};

// True if an operation has many keys, its `keys`; or one key, its `key`.
bool is_list(Verb verb) noexcept;
bool needs_key(Verb verb) noexcept;
bool is_good_key(std::string_view key) noexcept;

// A time to live in the form for SET and GETEX.
struct Expiry {
  std::string_view unit;    // PX or EX
  std::int64_t number = 0;  // above 0
};
// `ttl` must be above 0.
Expiry expiry_of(std::chrono::milliseconds ttl) noexcept;

// True if a touch is sent as PEXPIRE. Only for servers known to be Redis or Valkey: Garnet answers
// it with garbage for a key that has expired.
bool touches_by_pexpire(const Operation& operation, const ServerFacts& server) noexcept;

// Why an operation must be refused before a byte is written, if so.
std::optional<LocalError> refusal_of(const Operation& operation, const ServerFacts& server,
                                     std::uint64_t value_limit);

}  // namespace sheaf::protocol::resp
