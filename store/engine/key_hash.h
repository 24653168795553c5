#pragma once

// Hash tables by key. They are seeded, so that clients cannot choose colliding keys, and searched
// by view.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"

namespace sheaf::store {

struct KeyHash {
  using is_transparent = void;
  // Not noexcept: libstdc++ then stores the hash in the node, so growing the table hashes no key.
  std::size_t operator()(std::string_view key) const { return hash64(key, seed); }
  std::uint64_t seed = 0;
};

struct KeyEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
};

template <class T>
using KeyMap = std::unordered_map<std::string, T, KeyHash, KeyEqual>;

inline constexpr std::size_t initial_buckets = 16;

}  // namespace sheaf::store
