// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/keyspace.h"

#include <algorithm>

#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::test::resp_model {

Keyspace::Spot Keyspace::spot_of(std::string_view key) {
  return {protocol::resp::hash_slot(key), key};
}

const Item* Keyspace::find(std::string_view key, Deadline now) const {
  const auto found = items_.find(spot_of(key));
  return found == items_.end() || found->second.ends <= now ? nullptr : &found->second;
}
Item* Keyspace::find(std::string_view key, Deadline now) {
  ++changes_;
  return const_cast<Item*>(std::as_const(*this).find(key, now));
}

bool Keyspace::is_dead(std::string_view key, Deadline now) const {
  const auto found = items_.find(spot_of(key));
  return found != items_.end() && found->second.ends <= now;
}

Item& Keyspace::put(std::string_view key, std::string_view value, Deadline ends) {
  ++changes_;
  Item& item = items_[Place(spot_of(key))];
  item.value = value;
  item.ends = ends;
  return item;
}

bool Keyspace::erase(std::string_view key, Deadline now) {
  ++changes_;
  const auto found = items_.find(spot_of(key));
  if (found == items_.end()) return false;
  const bool lived = found->second.ends > now;
  items_.erase(found);
  return lived;
}

std::vector<std::string> Keyspace::keys_of(Slot slot, Deadline now) const {
  std::vector<std::string> keys;
  for (auto item = items_.lower_bound(Spot(slot, {})); item != items_.end(); ++item) {
    if (item->first.first != slot) break;
    if (item->second.ends > now) keys.push_back(item->first.second);
  }
  return keys;
}

std::size_t Keyspace::size(Deadline now) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(items_, [now](const auto& item) { return item.second.ends > now; }));
}

bool Keyspace::move_to(Keyspace& target, std::string_view key) {
  ++changes_;
  ++target.changes_;
  const auto found = items_.find(spot_of(key));
  if (found == items_.end()) return false;
  auto item = items_.extract(found);
  target.items_.insert_or_assign(std::move(item.key()), std::move(item.mapped()));
  return true;
}

void Keyspace::move_slot_to(Keyspace& target, Slot slot) {
  ++changes_;
  ++target.changes_;
  auto item = items_.lower_bound(Spot(slot, {}));
  while (item != items_.end() && item->first.first == slot) {
    auto next = std::next(item);
    target.items_.insert_or_assign(item->first, std::move(item->second));
    items_.erase(item);
    item = next;
  }
}

}  // namespace sheaf::test::resp_model
