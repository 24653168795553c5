#pragma once

// The fences of removed keys, for the option fence_retention. Without them a holder that has lost
// its lock could write again after the key was deleted.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "store/engine/record_table.h"

namespace sheaf::store {

class Journal;

class RetainedFences {
 public:
  struct Entry {
    std::string key;
    Fence fence;
    Deadline until;

    std::uint64_t bytes() const noexcept { return key.size() + fence.node.size(); }
  };

  // Remembers nothing if `retention` is 0. Keeps at most `max_entries` fences, whose keys and nodes
  // take at most `max_bytes`; the oldest are dropped first.
  RetainedFences(std::chrono::milliseconds retention, std::uint64_t max_entries,
                 std::uint64_t max_bytes, std::uint64_t seed)
      : retention_(retention),
        max_entries_(max_entries),
        max_bytes_(max_bytes),
        index_(initial_buckets, KeyHash{seed}) {}
  RetainedFences(const RetainedFences&) = delete;
  RetainedFences& operator=(const RetainedFences&) = delete;

  // The fence of a removed key; null if it had none or if the fence is forgotten.
  const Fence* find(std::string_view key, Deadline mono) const;
  // Replaces an older fence of the same key.
  void keep(std::string_view key, const Fence& fence, Deadline mono);
  // Restores a fence from before a restart; does nothing if `retention` is 0.
  void restore(std::string_view key, const Fence& fence, Deadline until);
  // The entry of a key, whatever its age; null without one.
  const Entry* entry(std::string_view key) const;
  // Forgets at most `limit` fences that are too old.
  void forget_old(Deadline mono, std::size_t limit);

  // From now on every kept or forgotten fence is noted there.
  void note_in(Journal& journal) noexcept { journal_ = &journal; }

  std::size_t size() const noexcept { return entries_.size(); }

 private:
  void add(std::string_view key, const Fence& fence, Deadline until);
  void forget(std::list<Entry>::iterator entry);

  std::chrono::milliseconds retention_;
  std::uint64_t max_entries_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  Journal* journal_ = nullptr;
  std::list<Entry> entries_;  // oldest first
  std::unordered_map<std::string_view, std::list<Entry>::iterator, KeyHash, KeyEqual> index_;
};

}  // namespace sheaf::store
