// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/model_cluster.h"

#include <algorithm>

namespace sheaf::test::resp_model {

using protocol::resp::slot_count;

ModelCluster::ModelCluster(const std::vector<NodeAddress>& primaries, std::uint64_t seed,
                           ClusterOptions options)
    : options_(std::move(options)), random_(seed), gossip_(random_.u64()) {
  if (!options_.password.empty()) allow(options_.password);
  for (const NodeAddress& address : primaries) add(address, std::make_shared<Keyspace>());
  const std::size_t count = primaries.size();
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    const auto owner = static_cast<NodeNumber>(slot * count / slot_count);
    node(owner).view.set_owner(static_cast<Slot>(slot), owner);
  }
  for (NodeNumber number = 0; number < size(); ++number) {
    node(number).view.set_epoch(number + 1);
  }
  for (NodeNumber from = 0; from < size(); ++from) {
    const Announcement said = node(from).view.announcement();
    for (NodeNumber to = 0; to < size(); ++to) {
      if (to != from) node(to).view.hear(from, said, options_.dialect.is_garnet());
    }
  }
}

NodeNumber ModelCluster::add(NodeAddress address, std::shared_ptr<Keyspace> keys) {
  const NodeNumber number = size();
  NodeEntry entry;
  entry.id = random_.hex(40);
  entry.address = std::move(address);
  entry.version = 1;
  nodes_.push_back(std::make_unique<ModelNode>(
      ModelNode{ClusterView(number, std::move(entry)), std::move(keys)}));
  return number;
}

NodeNumber ModelCluster::add_primary(NodeAddress address, Deadline now, NodeNumber seed_node) {
  const NodeNumber number = add(std::move(address), std::make_shared<Keyspace>());
  node(number).view.copy(node(seed_node).view);
  announce(number, now);
  return number;
}

NodeNumber ModelCluster::add_replica(NodeNumber primary, NodeAddress address, Deadline now) {
  const NodeNumber number = add(std::move(address), node(primary).keys);
  node(number).view.copy(node(primary).view);
  node(number).view.follow(primary);
  announce(number, now);
  return number;
}

// ---- gossip

void ModelCluster::announce(NodeNumber from, Deadline now) {
  for (NodeNumber to = 0; to < size(); ++to) {
    if (to != from) announce_to(to, from, now);
  }
}

void ModelCluster::announce_to(NodeNumber to, NodeNumber from, Deadline now) {
  if (gossip_.put_off(from, to)) return;
  gossip_.send(from, to, node(from).view.announcement(), options_.gossip, now);
}

// Nodes that take an epoch at the same time never take the same one. Real nodes vote, or resolve a
// conflict soon.
std::uint64_t ModelCluster::next_epoch() const {
  std::uint64_t highest = 0;
  for (const auto& each : nodes_) highest = std::max(highest, each->view.own().epoch);
  return highest + 1;
}

// All other nodes send this one their announcements again.
void ModelCluster::ask_all(NodeNumber number, Deadline now) {
  for (NodeNumber other = 0; other < size(); ++other) {
    if (other == number || node(other).stopped) continue;
    announce_to(number, other, now);
  }
}

void ModelCluster::deliver(const Gossip::Message& message, Deadline now) {
  ModelNode& to = node(message.to);
  if (to.stopped) return;  // it asks all others when it resumes
  const NodeEntry before = to.view.own();
  to.view.hear(message.from, message.said, options_.dialect.is_garnet());
  const NodeEntry& after = to.view.own();
  if (after.primary != before.primary && after.is_replica()) to.keys = node(after.primary).keys;
  if (after.version != before.version) announce(message.to, now);
  if (message.stale && !node(message.from).stopped) announce_to(message.to, message.from, now);
}

void ModelCluster::tick(Deadline now) {
  while (const auto message = gossip_.take(now)) deliver(*message, now);
}

void ModelCluster::settle(Deadline now) {
  while (const auto message = gossip_.take(never)) deliver(*message, now);
}

bool ModelCluster::settled() const {
  return gossip_.next() == never &&
         std::ranges::none_of(nodes_, [](const auto& each) { return each->stopped; });
}

// ---- migration

void ModelCluster::set_importing(Slot slot, NodeNumber target, NodeNumber source) {
  node(target).view.set_importing(slot, source);
}
void ModelCluster::set_migrating(Slot slot, NodeNumber source, NodeNumber target) {
  node(source).view.set_migrating(slot, target);
}
void ModelCluster::set_stable(Slot slot, NodeNumber at, Deadline now) {
  node(at).view.set_stable(slot);
  ask_all(at, now);
}

void ModelCluster::set_owner(Slot slot, NodeNumber at, NodeNumber owner, Deadline now) {
  ClusterView& view = node(at).view;
  const bool becomes_owner = owner == at && view.owner(slot) != at;
  view.set_owner(slot, owner);
  if (becomes_owner) view.set_epoch(next_epoch());
  announce(at, now);
}

bool ModelCluster::move_one_key(Slot slot, NodeNumber source, NodeNumber target, Deadline now) {
  const std::vector<std::string> keys = node(source).keys->keys_of(slot, now);
  return !keys.empty() && node(source).keys->move_to(*node(target).keys, keys.front());
}

void ModelCluster::move_keys(Slot slot, NodeNumber source, NodeNumber target) {
  if (node(source).keys == node(target).keys) return;
  node(source).keys->move_slot_to(*node(target).keys, slot);
}

void ModelCluster::give(SlotRange slots, NodeNumber source, NodeNumber target, Deadline now) {
  ClusterView& view = node(source).view;
  for (std::size_t i = slots.first; i <= slots.last; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (view.owner(slot) == source) view.set_owner(slot, target);
  }
  announce(source, now);
}

void ModelCluster::take(SlotRange slots, NodeNumber source, NodeNumber target, Deadline now) {
  for (std::size_t i = slots.first; i <= slots.last; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (node(source).view.owner(slot) != target) continue;
    move_keys(slot, source, target);
    node(target).view.set_owner(slot, target);
  }
  node(target).view.set_epoch(next_epoch());
  announce(target, now);
}

// ---- failover

void ModelCluster::yield_to(NodeNumber replica, Deadline now) {
  const NodeNumber primary = node(replica).view.own().primary;
  if (primary == nobody || !node(primary).view.knows(replica)) return;
  give({0, slot_count - 1}, primary, replica, now);
}

void ModelCluster::promote(NodeNumber replica, Deadline now) {
  if (!node(replica).view.own().is_replica()) return;
  for (NodeNumber voter = 0; voter < size(); ++voter) {
    if (voter == replica) continue;
    node(replica).view.hear(voter, node(voter).view.announcement(), options_.dialect.is_garnet());
  }
  node(replica).view.promote(next_epoch());
  announce(replica, now);
}

// ---- nodes

void ModelCluster::go_on(NodeNumber number, Deadline now) {
  node(number).stopped = false;
  if (options_.wary) {
    Deadline& down = node(number).faults.down_until;
    down = std::max(down, now + 2 * options_.gossip.most);
  }
  announce(number, now);
  ask_all(number, now);
}

void ModelCluster::restart(NodeNumber number, NodeAddress address, Deadline now) {
  ++node(number).process;
  node(number).view.set_address(std::move(address));
  go_on(number, now);
}

// ---- keys

std::vector<NodeNumber> ModelCluster::places_of(std::string_view key, Deadline now) const {
  std::vector<NodeNumber> places;
  std::vector<const Keyspace*> seen;
  for (NodeNumber number = 0; number < size(); ++number) {
    const Keyspace* keys = node(number).keys.get();
    if (std::ranges::find(seen, keys) != seen.end()) continue;
    seen.push_back(keys);
    if (keys->find(key, now) != nullptr) places.push_back(number);
  }
  return places;
}

void ModelCluster::lose(std::string_view key, Deadline now) {
  for (const auto& each : nodes_) each->keys->erase(key, now);
}

}  // namespace sheaf::test::resp_model
