// Reports of servers of a Redis protocol cluster: each reply becomes a view, views become a map.

#include <algorithm>

#include "protocol/resp/cluster/topology_merge.h"
#include "protocol/resp/wire/reply_reader.h"
#include "tests/fuzz/fuzz.h"
#include "tests/protocol/resp/live_replies.h"

namespace sheaf::fuzz {
namespace {

using namespace protocol::resp;

void check_view(const TopologyView& view) {
  std::vector<bool> taken(slot_count);
  for (const SlotClaim& claim : view.claims) {
    expect(claim.node < view.nodes.size(), "a claim is that of a node");
    expect(claim.first <= claim.last && claim.last < slot_count, "a claim is in bounds");
    for (std::uint32_t slot = claim.first; slot <= claim.last; ++slot) {
      expect(!taken[slot], "no slot twice");
      taken[slot] = true;
    }
  }
  for (const SlotMigration& migration : view.migrations) {
    expect(migration.node < view.nodes.size() && migration.slot < slot_count, "a migration, too");
  }
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const TopologyNode& node = view.nodes[i];
    expect(!node.id.empty(), "a node has an id");
    expect(!node.host.empty() || node.port == 0, "no host, no port");
    expect(node.host != "?" && node.hostname != "?", "nobody connects to a question mark");
  }
}

std::string text(const SlotMap& map) {
  std::string out;
  for (const TopologyNode& node : map.nodes()) {
    out += node.id + ' ' + node.host + ':' + std::to_string(node.port) + '\n';
  }
  std::uint16_t before = SlotMap::nobody;
  for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
    if (map.owner(slot) == before) continue;
    before = map.owner(slot);
    out += std::to_string(slot) + '=' + std::to_string(before) + ' ';
  }
  return out;
}

void check_map(const SlotMap& map) {
  for (std::uint16_t slot = 0; slot < slot_count; ++slot) {
    const std::uint16_t owner = map.owner(slot);
    expect(owner == SlotMap::nobody || owner < map.nodes().size(), "an owner is a node");
  }
}

}  // namespace

// Replies one after another, each preceded by a byte that says how it is read.
void run(std::string_view bytes) {
  Input input(bytes);
  std::vector<TopologyView> views;
  SlotMap map;
  while (!input.done() && views.size() < 4) {
    const std::uint8_t kind = input.u8();
    const std::uint16_t size = static_cast<std::uint16_t>(input.u8() << 8 | input.u8());
    const std::string reply(input.text(size));
    ReplyReader reader;
    if (reader.read(reply) != ReplyReader::Progress::complete) return;
    const AnsweringNode from{.host = "seed", .tls = (kind & 4) != 0};
    const auto parse = (kind & 3) == 0   ? parse_cluster_nodes
                       : (kind & 3) == 1 ? parse_cluster_shards
                                         : parse_cluster_slots;
    auto view = parse(reader.root(), from);
    if (!view) {
      expect(view.error().starts_with("the reply to CLUSTER "), "a sentence");
      continue;
    }
    check_view(*view);
    view->asked = kind >> 4;
    views.push_back(std::move(*view));
    if ((kind & 8) == 0) continue;
    map = SlotMap::merge(views, map);
    check_map(map);
    map.move({static_cast<std::uint16_t>(kind * 64), "moved.example", 7000, 7});
    check_map(map);
    views.clear();
  }
  if (views.empty()) return;
  const std::string merged = text(SlotMap::merge(views, map));
  std::ranges::reverse(views);
  expect(text(SlotMap::merge(views, map)) == merged, "the order of views does not matter");
}

std::vector<std::string> seeds() {
  const auto reply = [](std::uint8_t kind, std::string_view bytes) {
    const std::string head = {static_cast<char>(kind), static_cast<char>(bytes.size() >> 8),
                              static_cast<char>(bytes.size() & 0xff)};
    return head + std::string(bytes);
  };
  const std::string_view small =
      "$137\r\na 10.0.0.1:1@1 master - 0 0 4 connected 0-5 [7->-b]\n"
      "b ::1:2@1,n,x=y myself,master - 0 0 8 connected 7 9-99\n"
      "c :0@0 slave,noaddr a 0 0 8 x\n\r\n";
  const std::string_view other =
      "*1\r\n*4\r\n:0\r\n:9\r\n*3\r\n_\r\n:7\r\n+b\r\n*4\r\n+?\r\n:8\r\n+a\r\n%1\r\n+ip\r\n+h\r\n";
  return {reply(0x10, small) + reply(0x20, small),
          reply(0x18, small) + reply(0x32, other),
          reply(0, live::redis_nodes),
          reply(0, live::garnet_nodes),
          reply(1, live::redis_shards_resp3),
          reply(1, live::garnet_shards_unknown_endpoint),
          reply(2, live::redis_slots_resp3),
          reply(2, live::garnet_slots_unknown_endpoint)};
}

}  // namespace sheaf::fuzz
