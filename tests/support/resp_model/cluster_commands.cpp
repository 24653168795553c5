// Pure: no socket, clock, entropy, thread or callback.

#include "tests/support/resp_model/cluster_commands.h"

#include <vector>

#include "protocol/resp/wire/reply_tree.h"
#include "tests/support/resp_model/command_table.h"

namespace sheaf::test::resp_model {
namespace {

using protocol::resp::slot_count;

struct OwnedRange {
  SlotRange slots;
  NodeNumber owner = nobody;
};

// All ranges with an owner, in the order of slots.
std::vector<OwnedRange> ranges_of(const ClusterView& view) {
  std::vector<OwnedRange> ranges;
  for (std::size_t i = 0; i < slot_count; ++i) {
    const auto slot = static_cast<Slot>(i);
    const NodeNumber owner = view.owner(slot);
    if (owner == nobody || !view.knows(owner)) continue;
    const bool goes_on =
        !ranges.empty() && ranges.back().owner == owner && ranges.back().slots.last + 1 == slot;
    if (!goes_on) ranges.push_back({{slot, slot}, owner});
    ranges.back().slots.last = slot;
  }
  return ranges;
}

// A primary, then its replicas.
std::vector<NodeNumber> shard_of(const ClusterView& view, NodeNumber primary) {
  std::vector<NodeNumber> nodes{primary};
  for (NodeNumber node = 0; node < view.size(); ++node) {
    if (view.knows(node) && view.entry(node).primary == primary) nodes.push_back(node);
  }
  return nodes;
}

// ---- NODES

std::string line_of(NodeNumber node, const ClusterView& view, const std::vector<OwnedRange>& ranges,
                    const Dialect& dialect) {
  const NodeEntry& entry = view.entry(node);
  std::string line = entry.id + " " + entry.address.text() + "@" +
                     std::to_string(entry.address.port + 10'000) + " ";
  if (node == view.self()) line += "myself,";
  line += entry.is_replica() ? "slave " : "master ";
  const bool knows_primary = entry.is_replica() && view.knows(entry.primary);
  line += knows_primary ? view.entry(entry.primary).id : "-";
  // Redis gives a replica the epoch of its primary, Garnet its own.
  const bool of_primary = knows_primary && !dialect.is_garnet();
  const std::uint64_t epoch = of_primary ? view.entry(entry.primary).epoch : entry.epoch;
  line += " 0 0 " + std::to_string(epoch) + " connected";
  for (const auto& [slots, owner] : ranges) {
    if (owner != node) continue;
    line += " " + std::to_string(slots.first);
    if (slots.last != slots.first) line += "-" + std::to_string(slots.last);
  }
  if (node != view.self()) return line;
  for (const auto& [slot, target] : view.migrating()) {
    line += " [" + std::to_string(slot) + "->-" + view.entry(target).id + "]";
  }
  for (const auto& [slot, source] : view.importing()) {
    line += " [" + std::to_string(slot) + "-<-" + view.entry(source).id + "]";
  }
  return line;
}

// The answering node comes first, as on Garnet; Redis defines no order.
std::string nodes_text(const ClusterView& view, const Dialect& dialect) {
  const std::vector<OwnedRange> ranges = ranges_of(view);
  std::string text = line_of(view.self(), view, ranges, dialect) + "\n";
  for (NodeNumber node = 0; node < view.size(); ++node) {
    if (node == view.self() || !view.knows(node)) continue;
    text += line_of(node, view, ranges, dialect) + "\n";
  }
  return text;
}

// ---- SLOTS, SHARDS

void write_slots(const ClusterView& view, const Dialect& dialect, ReplyWriter& reply) {
  const std::vector<OwnedRange> ranges = ranges_of(view);
  reply.array(ranges.size());
  for (const auto& [slots, owner] : ranges) {
    const std::vector<NodeNumber> nodes = shard_of(view, owner);
    reply.array(2 + nodes.size());
    reply.number(slots.first);
    reply.number(slots.last);
    for (const NodeNumber node : nodes) {
      const NodeEntry& entry = view.entry(node);
      reply.array(4);
      reply.bulk(entry.address.host);
      reply.number(entry.address.port);
      reply.bulk(entry.id);
      dialect.is_garnet() ? reply.array(0) : reply.map(0);
    }
  }
}

void write_shard_node(const NodeEntry& entry, const Dialect& dialect, ReplyWriter& reply) {
  dialect.is_garnet() ? reply.array(14) : reply.map(7);
  reply.bulk("id");
  reply.bulk(entry.id);
  reply.bulk("port");
  reply.number(entry.address.port);
  reply.bulk("ip");
  reply.bulk(entry.address.host);
  reply.bulk("endpoint");
  reply.bulk(entry.address.host);
  reply.bulk("role");
  reply.bulk(!entry.is_replica() ? "master" : dialect.is_garnet() ? "slave" : "replica");
  reply.bulk("replication-offset");
  reply.number(0);
  reply.bulk("health");
  reply.bulk("online");
}

void write_shards(const ClusterView& view, const Dialect& dialect, ReplyWriter& reply) {
  const std::vector<OwnedRange> ranges = ranges_of(view);
  std::vector<NodeNumber> primaries;
  for (NodeNumber node = 0; node < view.size(); ++node) {
    if (view.knows(node) && !view.entry(node).is_replica()) primaries.push_back(node);
  }
  reply.array(primaries.size());
  for (const NodeNumber primary : primaries) {
    dialect.is_garnet() ? reply.array(4) : reply.map(2);
    reply.bulk("slots");
    std::vector<SlotRange> own;
    for (const OwnedRange& range : ranges) {
      if (range.owner == primary) own.push_back(range.slots);
    }
    reply.array(2 * own.size());
    for (const SlotRange& slots : own) {
      reply.number(slots.first);
      reply.number(slots.last);
    }
    reply.bulk("nodes");
    const std::vector<NodeNumber> nodes = shard_of(view, primary);
    reply.array(nodes.size());
    for (const NodeNumber node : nodes) write_shard_node(view.entry(node), dialect, reply);
  }
}

// ---- others

std::string cluster_info(const ModelNode& node, const Dialect& dialect, Deadline now) {
  const ClusterView& view = node.view;
  const std::size_t assigned = slot_count - view.slots_of(nobody);
  NodeNumber known = 0;
  NodeNumber primaries = 0;
  for (NodeNumber i = 0; i < view.size(); ++i) {
    if (!view.knows(i)) continue;
    ++known;
    primaries += view.entry(i).is_replica() ? 0 : 1;
  }
  const bool down = !dialect.is_garnet() && now < node.faults.down_until;
  return "cluster_state:" + std::string(down ? "fail" : "ok") +
         "\r\ncluster_slots_assigned:" + std::to_string(assigned) +
         "\r\ncluster_slots_ok:" + std::to_string(assigned) +
         "\r\ncluster_known_nodes:" + std::to_string(known) +
         "\r\ncluster_size:" + std::to_string(primaries) +
         "\r\ncluster_current_epoch:" + std::to_string(view.highest_epoch()) +
         "\r\ncluster_my_epoch:" + std::to_string(view.own().epoch) + "\r\n";
}

void write_key_slot(const Words& words, ReplyWriter& reply) {
  if (words.size() != 3) return reply.error(wrong_arity("cluster|keyslot"));
  reply.number(protocol::resp::hash_slot(words[2]));
}

void write_key_count(const Words& words, const ModelNode& node, Deadline now, ReplyWriter& reply) {
  if (words.size() != 3) return reply.error(wrong_arity("cluster|countkeysinslot"));
  const auto slot = protocol::resp::parse_number(words[2]);
  if (!slot || *slot < 0 || *slot >= slot_count) return reply.error("ERR Invalid slot");
  const auto count = node.keys->keys_of(static_cast<Slot>(*slot), now).size();
  reply.number(static_cast<std::int64_t>(count));
}

}  // namespace

void run_cluster_command(const Words& words, const ModelNode& node, const Dialect& dialect,
                         Deadline now, ReplyWriter& reply) {
  const std::string name = lower(words[1]);
  if (name == "keyslot") return write_key_slot(words, reply);
  if (name == "countkeysinslot") return write_key_count(words, node, now, reply);
  const bool known =
      name == "myid" || name == "nodes" || name == "slots" || name == "shards" || name == "info";
  if (!known) return reply.error(unknown_subcommand(words));
  if (words.size() != 2) return reply.error(wrong_arity("cluster|" + name));
  if (name == "myid") return reply.bulk(node.view.own().id);
  if (name == "slots") return write_slots(node.view, dialect, reply);
  if (name == "shards") return write_shards(node.view, dialect, reply);
  const std::string text =
      name == "nodes" ? nodes_text(node.view, dialect) : cluster_info(node, dialect, now);
  dialect.is_garnet() ? reply.bulk(text) : reply.verbatim(text);
}

std::string info_text(const std::string& section, const ModelNode& node, const Dialect& dialect) {
  std::string text;
  if (section.empty() || section == "server") {
    text += "# Server\r\n";
    if (dialect.is_garnet()) text += "garnet_version:" + dialect.version + "\r\n";
    text += "redis_version:" + (dialect.is_garnet() ? "7.4.3" : dialect.version) + "\r\n";
    text += "redis_mode:cluster\r\n";
  }
  if (section.empty()) text += "\r\n";
  if (!section.empty() && section != "replication") return text;
  const ClusterView& view = node.view;
  text += "# Replication\r\n";
  if (view.own().is_replica() && view.knows(view.own().primary)) {
    const NodeAddress& primary = view.entry(view.own().primary).address;
    text += "role:slave\r\nmaster_host:" + primary.host +
            "\r\nmaster_port:" + std::to_string(primary.port) + "\r\nmaster_link_status:up\r\n";
  } else {
    text += "role:master\r\nconnected_slaves:" +
            std::to_string(shard_of(view, view.self()).size() - 1) + "\r\n";
  }
  return text;
}

}  // namespace sheaf::test::resp_model
