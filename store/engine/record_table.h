#pragma once

// The records of all keys, by key and in the order of expiry.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "protocol/statestore/clock.h"
#include "store/engine/key_hash.h"
#include "store/engine/usage.h"

namespace sheaf::store {

// A version. Its node is always the store's.
struct Version {
  std::uint64_t wall = 0;
  std::uint64_t counter = 0;
};

// The fencing token that protects a key.
struct Fence {
  explicit Fence(const protocol::statestore::Timestamp& token)
      : wall(token.wall), counter(token.counter), node(token.node) {}

  protocol::statestore::Timestamp token() const noexcept { return {wall, counter, node}; }

  std::uint64_t wall;
  std::uint64_t counter;
  std::string node;
};

struct Record {
  std::string value;
  Version version;
  std::unique_ptr<Fence> fence;  // null: not protected

 private:
  friend class RecordTable;
  Deadline expiry_ = never;
  std::uint64_t turn_ = 0;      // orders keys with the same expiry: the first one set expires first
  std::size_t heap_index_ = 0;  // if it expires
  std::size_t place_ = 0;
  Account account_ = nobody;
  bool persists_ = true;
};

class RecordTable {
 public:
  using Entry = std::pair<const std::string, Record>;  // its address is valid until it is erased

  explicit RecordTable(std::uint64_t seed) : records_(initial_buckets, KeyHash{seed}) {}

  Entry* find(std::string_view key);
  // Creates the key or replaces its value and expiry. The caller sets version and fence.
  // `persists`: the key belongs in the file of a store that has one.
  Entry& put(Entry* existing, std::string_view key, std::string_view value, Deadline expiry,
             Account account = nobody, bool persists = true);
  void erase(Entry& entry);

  static bool expired(const Entry& entry, Deadline mono) noexcept {
    return entry.second.expiry_ <= mono;
  }
  static Deadline expiry(const Entry& entry) noexcept { return entry.second.expiry_; }
  static Account account(const Entry& entry) noexcept { return entry.second.account_; }
  static bool persists(const Entry& entry) noexcept { return entry.second.persists_; }
  // Every entry has a place below size(). An entry that is erased gives its place to the last one;
  // nothing else moves an entry. So a walk from the last place down misses none that stays.
  const Entry& at(std::size_t place) const noexcept { return *places_[place]; }
  // The entry that expires first; null if none expires.
  Entry* next_to_expire() const noexcept { return heap_.empty() ? nullptr : heap_.front(); }
  std::optional<Deadline> next_expiry() const noexcept;

  std::size_t size() const noexcept { return records_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }  // keys and values
  Usage usage(Account account) const noexcept;             // without watches

 private:
  void reserve();
  void count(Account account, std::uint64_t size) noexcept;
  void discount(Account account, std::uint64_t size) noexcept;
  void set_expiry(Entry& entry, Deadline expiry) noexcept;
  void leave_heap(Entry& entry) noexcept;
  void put_into_heap(Entry* entry, std::size_t at) noexcept;
  void sift(Entry* entry, std::size_t at) noexcept;

  KeyMap<Record> records_;
  std::vector<Entry*> places_;
  std::vector<Entry*> heap_;  // binary, earliest expiry at the front
  std::uint64_t bytes_ = 0;
  std::vector<Usage> usage_;  // by account; `nobody` stays 0
  std::uint64_t turns_ = 0;
};

}  // namespace sheaf::store
