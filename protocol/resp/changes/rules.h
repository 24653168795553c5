#pragma once

// Which operations a session of the Redis protocol takes, and what a time to live becomes.
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

// Servers take keys of 512 MiB. Ours are copied into the output, and copies have a limit.
inline constexpr std::size_t longest_key = OutputQueue::copy_limit;

// Of Redis; Valkey and Garnet always had them.
inline constexpr ServerVersion getex_since{6, 2, 0};
inline constexpr ServerVersion set_get_since{6, 2, 0};
inline constexpr ServerVersion set_nx_get_since{7, 0, 0};

// Whether an operation is about one key, its `key`.
bool needs_key(Verb verb) noexcept;
bool is_good_key(std::string_view key) noexcept;

// A time to live, as SET and GETEX take it.
struct Expiry {
  std::string_view unit;    // PX or EX
  std::int64_t number = 0;  // above 0
};
// `ttl` is above 0.
Expiry expiry_of(std::chrono::milliseconds ttl) noexcept;

// True if a touch is a PEXPIRE. Only where the server is known to be Redis or Valkey: Garnet
// answers that with garbage for a key whose life is over.
bool touches_by_pexpire(const Operation& operation, const ServerFacts& server) noexcept;

// Why an operation is refused before a byte is written, if it is.
std::optional<LocalError> refusal_of(const Operation& operation, const ServerFacts& server,
                                     std::uint64_t value_limit);

}  // namespace sheaf::protocol::resp
