#pragma once

// MgetUse and MsetUse: decide if a request for many keys is one MGET or MSET, or a GET or SET for
// each key.
//
// An MGET costs the server about half as much, but it answers null also for a key of another type,
// so each null takes a second request. Therefore an MGET needs that all keys of the last few
// requests were there. A server that refuses MGET or MSET, as one does by its rights, is not asked
// again.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <span>
#include <string_view>

#include "protocol/resp/cluster/server_facts.h"
#include "protocol/resp/wire/hash_slot.h"
#include "protocol/resp/wire/server_error.h"

namespace sheaf::protocol::resp {

// A server of a cluster takes only keys of one slot in one command.
inline bool may_be_together(std::span<const std::string_view> keys,
                            const ServerFacts& server) noexcept {
  if (!server.cluster) return true;
  const auto slot = hash_slot(keys.front());
  return std::ranges::all_of(keys, [slot](auto key) { return hash_slot(key) == slot; });
}

class MgetUse {
 public:
  bool suits(std::span<const std::string_view> keys, const ServerFacts& server) const noexcept {
    return !refused_ && complete_ >= enough && may_be_together(keys, server);
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

class MsetUse {
 public:
  bool suits(std::span<const std::string_view> keys, const ServerFacts& server) const noexcept {
    return !refused_ && keys.size() > 1 && may_be_together(keys, server);
  }
  // An MSET was answered by an error. One that passes says nothing about the command.
  void on_refusal(const ServerError& error) noexcept {
    refused_ |= error.execution() == Execution::refused;
  }

 private:
  bool refused_ = false;
};

}  // namespace sheaf::protocol::resp
