#pragma once

// Keyspace: the keys of one primary and its replicas, with their values and times to live. Each key
// of a model cluster is in at most one keyspace, and moves between them as a whole.
//
// An expired key stays until it is written again or removed, because Garnet's replies distinguish a
// key that is gone from one that is dead.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace sheaf::test::resp_model {

using Slot = std::uint16_t;

struct Item {
  std::string value;
  Deadline ends = never;  // monotonic
};

class Keyspace {
 public:
  // Null if no such key lives.
  Item* find(std::string_view key, Deadline now);
  const Item* find(std::string_view key, Deadline now) const;
  // True if the key exists but its time is over.
  bool is_dead(std::string_view key, Deadline now) const;
  Item& put(std::string_view key, std::string_view value, Deadline ends = never);
  // True if the key lived.
  bool erase(std::string_view key, Deadline now);

  // The living keys of a slot, in order.
  std::vector<std::string> keys_of(Slot slot, Deadline now) const;
  std::size_t size(Deadline now) const;
  // Grows with each access that may change a key. While it is the same, so are values and ends.
  std::uint64_t changes() const { return changes_; }
  // Moves a key, even a dead one; false if there is no such key.
  bool move_to(Keyspace& target, std::string_view key);
  // Moves all keys of a slot.
  void move_slot_to(Keyspace& target, Slot slot);

 private:
  using Place = std::pair<Slot, std::string>;
  using Spot = std::pair<Slot, std::string_view>;
  struct Before {
    using is_transparent = void;
    bool operator()(Spot a, Spot b) const { return a < b; }
  };
  static Spot spot_of(std::string_view key);

  std::map<Place, Item, Before> items_;
  std::uint64_t changes_ = 0;
};

}  // namespace sheaf::test::resp_model
