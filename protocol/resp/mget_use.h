#pragma once

// MgetUse: decides if a request for many keys is one MGET, or a GET for each key.
//
// An MGET costs the server about half as much, but it answers null also for a key of another type,
// so each null takes a second request. Therefore an MGET needs that all keys of the last few
// requests were there. A server that refuses MGET, as one does by its rights, is not asked again.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <span>
#include <string_view>

#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::protocol::resp {

class MgetUse {
 public:
  // A server of a cluster takes only keys of one slot.
  bool suits(std::span<const std::string_view> keys, const ServerFacts& server) const noexcept {
    if (refused_ || complete_ < enough) return false;
    if (!server.cluster) return true;
    const auto slot = hash_slot(keys.front());
    return std::ranges::all_of(keys, [slot](auto key) { return hash_slot(key) == slot; });
  }
  // A request for many keys, of either form, was answered.
  void on_answer(bool misses) noexcept { complete_ = misses ? 0 : std::min(complete_ + 1, enough); }
  // An MGET was answered by an error. A redirect says nothing about the command.
  void on_refusal(bool redirect) noexcept { refused_ |= !redirect; }

 private:
  static constexpr unsigned enough = 4;
  unsigned complete_ = enough;  // requests in a row without a miss, up to `enough`
  bool refused_ = false;
};

}  // namespace sheaf::protocol::resp
