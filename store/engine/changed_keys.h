#pragma once

// The keys whose state is not in the file yet. Before begin() nothing is noted or allocated.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "store/engine/key_hash.h"

namespace sheaf::store {

class ChangedKeys {
 public:
  explicit ChangedKeys(std::uint64_t seed)
      : seed_(seed),
        waiting_(initial_buckets, KeyHash{seed}),
        taken_(initial_buckets, KeyHash{seed}) {}
  ChangedKeys(const ChangedKeys&) = delete;
  ChangedKeys& operator=(const ChangedKeys&) = delete;

  void begin() noexcept { noting_ = true; }
  void note(std::string_view key) {
    if (noting_ && !waiting_.contains(key)) waiting_.emplace(key);
  }

  // The next key to save; null if none is left. Valid until saved() or lost().
  const std::string* take();
  // Everything that was taken is in the file.
  void saved();
  // Nothing that was taken is in the file: it waits again.
  void lost();

  bool empty() const noexcept { return waiting_.empty() && taken_.empty(); }
  bool contains(std::string_view key) const {
    return waiting_.contains(key) || taken_.contains(key);
  }

 private:
  using Keys = std::unordered_set<std::string, KeyHash, KeyEqual>;
  // Clearing a table walks its buckets, so a table that a burst has grown is replaced.
  static constexpr std::size_t kept_buckets = 4096;

  std::uint64_t seed_;
  bool noting_ = false;
  Keys waiting_;
  Keys taken_;
};

}  // namespace sheaf::store
