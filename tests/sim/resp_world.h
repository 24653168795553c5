#pragma once

// A model cluster of the Redis protocol that changes and fails, and a client of it.
//
// Thread rule: one thread.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {

using namespace std::chrono_literals;

// Three primaries with one replica each. A fourth primary joins later.
struct RespWorld {
  explicit RespWorld(std::uint64_t seed, test::resp_model::ClusterOptions options = {},
                     const cluster::ClusterControls& controls = {})
      : world(seed), network(world), resp(network, 3, seed, std::move(options)) {
    for (unsigned primary = 0; primary < 3; ++primary) resp.add_replica(primary);
    newcomer = resp.add_primary();
    world.run_for(1s);
    ClusterConfig config;
    config.kind = EndpointKind::redis;
    config.nodes = resp.addresses();
    client =
        std::make_unique<StackClient>(world, network, config, seed, Bug::none,
                                      client::watch::WatchRegistryOptions(), nullptr, controls);
    world.run_for(100ms);
  }
  // Both wait until the operation ends.
  const Op& get(const std::string& key) { return wait(client->get(key, 2s)); }
  const Op& set(const std::string& key, const std::string& value) {
    return wait(client->set(key, value, 2s));
  }
  const Op& wait(const Op& op) {
    world.run(world.now().mono + 5s, [&op] { return op.ended > 0; });
    return op;
  }
  std::string_view owner(std::uint16_t slot) const {
    return client->cluster().topology().owner_of_slot(slot);
  }

  // ---- trouble
  // A slot moves, or its primary fails over. Changes come one after another.
  void change(std::uint16_t slot, Random& random) {
    auto& changes = resp.changes();
    if (!changes.over() || !resp.cluster().settled()) return;
    const auto& view = resp.cluster().node(0).view;
    const auto source = view.owner(slot);
    const unsigned target = random.below(2) == 0 ? newcomer : (source + 1) % 7;
    if (source == test::resp_model::nobody || source == target) return;
    const bool fit = !resp.cluster().node(target).view.own().is_replica() &&
                     !resp.cluster().node(source).view.own().is_replica();
    switch (random.below(6)) {
      default:
        if (fit) changes.migrate({slot, slot}, source, target, {30ms, 50ms}, resp.now());
        return;
      case 1:
        if (fit) changes.flip({slot, slot}, source, target, {10ms, 50ms}, resp.now());
        return;
      case 0:
        return fail_over(source);
    }
  }
  // A slot gets another owner, and all nodes know it at once.
  void flip(std::uint16_t slot, Random& random) {
    auto& changes = resp.changes();
    if (!changes.over() || !resp.cluster().settled()) return;
    const auto source = resp.cluster().node(0).view.owner(slot);
    const auto target = static_cast<unsigned>((source + 1 + random.below(2)) % 3);
    changes.flip({slot, slot}, source, target, {}, resp.now());
  }
  void fail_over(unsigned primary) {
    for (unsigned node = 0; node < resp.cluster().size(); ++node) {
      if (resp.cluster().node(node).view.own().primary != primary) continue;
      return resp.changes().fail_over(node, {10ms, 50ms}, resp.now());
    }
  }
  // Causes a fault at a node for a while.
  void spoil(Random& random) {
    const auto node = static_cast<unsigned>(random.below(7));
    auto& faults = resp.cluster().node(node).faults;
    const Deadline end = resp.now() + std::chrono::milliseconds(random.below(500));
    switch (random.below(5)) {
      case 0:
        faults.down_until = end;
        return;
      case 1:
        faults.loading_until = end;
        return;
      case 2:
        faults.garbage_replies = 1;
        return;
      case 3:
        resp.server(node).reset_all();
        return;
      default:
        if (!resp.cluster().node(node).stopped) resp.stop_for(node, 300ms);
    }
  }

  SimWorld world;
  SimNetwork network;
  SimResp resp;
  unsigned newcomer = 0;
  std::unique_ptr<StackClient> client;
};

}  // namespace sheaf::sim
