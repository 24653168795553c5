#pragma once

// Keyspace: the keys of one primary and its replicas, with their values and times to live. A model
// cluster has each key in at most one of them; it goes from one to another as a whole.
//
// An expired key stays until it is written again or removed, for Garnet's replies differ between a
// key that is gone and one that is dead.
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
  // Null if there is none that lives.
  Item* find(std::string_view key, Deadline now);
  const Item* find(std::string_view key, Deadline now) const;
  // It was there, and its time is over.
  bool is_dead(std::string_view key, Deadline now) const;
  Item& put(std::string_view key, std::string_view value, Deadline ends = never);
  // True if it lived.
  bool erase(std::string_view key, Deadline now);

  // The living ones of a slot, in order.
  std::vector<std::string> keys_of(Slot slot, Deadline now) const;
  std::size_t size(Deadline now) const;
  // Moves a key, dead ones too; false if there is none.
  bool move_to(Keyspace& target, std::string_view key);
  // Moves all of a slot.
  void move_slot_to(Keyspace& target, Slot slot);

 private:
  using Place = std::pair<Slot, std::string>;
  static Place place_of(std::string_view key);
  std::map<Place, Item> items_;
};

}  // namespace sheaf::test::resp_model
