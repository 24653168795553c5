// Changes the servers of a client a thousand times through its public interface, while threads use
// it. All servers are front ends of one store, so a key's value does not depend on its owner. Each
// thread waits for its call, so the order of operations on a key is not in question here; it is in
// topology_test.cpp and in Threads.ServersThatComeAndGo*.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "base/quiet_thread.h"
#include "base/random.h"
#include "cluster/placement/topology.h"
#include "tests/sim/kit/sim_store.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

class ReconfigurationWorld {
 public:
  explicit ReconfigurationWorld(std::uint64_t seed) : world(seed), network(world), random_(seed) {
    config.timeout = 5s;
    config.slots = 1'024;     // makes a topology cheap to build
    store_.keep_data = true;  // the first server makes the store, the others find it
    for (int i = 0; i < 5; ++i) {
      const std::string host = "b" + std::to_string(i);
      network.add_server(host, 1883, store_.start());
      config.nodes.push_back({host, 1883, 1});
    }
    all_ = config.nodes;
  }

  void run() {
    use_network(network, {});
    auto opened = Client::open(config);
    check(opened.has_value(), "the client does not open");
    Client client = std::move(*opened);
    std::vector<QuietThread> callers;
    for (int i = 0; i < 3; ++i)
      callers.emplace_back("caller", [&, i] { call(client, "key" + std::to_string(i)); });
    while (changes < 1'000) change(client);
    over_ = true;
    for (QuietThread& caller : callers) caller.join();
  }

  SimWorld world;
  SimNetwork network;
  ClusterConfig config;
  unsigned changes = 0;
  unsigned calls = 0;
  unsigned moves = 0;  // keys that moved to another server

 private:
  // Sets and reads, sometimes several keys at once. No call may fail, and each read returns the
  // last write.
  void call(Client& client, const std::string& key) {
    while (!over_) {
      const std::string value = std::to_string(++calls);
      set_and_get(client, key, value);
      const std::string_view keys[] = {key, "key0", "key1", "key2"};
      for (const auto& [name, one] : client.get_many(keys))
        check(one.has_value(), "a get_many failed: " + (one ? "" : one.error().message()));
      pass(std::chrono::microseconds(calls % 7 * 300));
    }
  }

  void change(Client& client) {
    pass(std::chrono::microseconds(random_.below(4'000)));
    ClusterConfig wanted = config;
    wanted.nodes.clear();
    while (wanted.nodes.empty()) {
      for (const NodeConfig& server : all_) {
        if (random_.below(3) == 0) continue;
        wanted.nodes.push_back(server);
        wanted.nodes.back().weight = static_cast<std::uint32_t>(1 + random_.below(3));
      }
    }
    const auto before = homes(client);
    const auto changed = client.reconfigure(wanted);
    check(changed.has_value(), "the servers cannot be changed");
    check_changes(*changed, config.nodes, wanted.nodes);
    config = wanted;
    ++changes;
    // The topology depends on the configuration alone.
    const auto topology = cluster::Topology::make(wanted);
    const auto after = homes(client);
    for (std::size_t i = 0; i < after.size(); ++i) {
      const auto found = topology->locate("probe" + std::to_string(i));
      check(after[i] == topology->identity(found.node), "a key has another home than it should");
      if (after[i] != before[i]) ++moves;
    }
  }
  static void check_changes(const ServersChanged& changed, const std::vector<NodeConfig>& before,
                            const std::vector<NodeConfig>& after) {
    std::size_t added = 0;
    for (const NodeConfig& server : after) {
      const auto same = [&](const NodeConfig& other) { return other.host == server.host; };
      if (std::ranges::none_of(before, same)) ++added;
    }
    check(changed.added.size() == added, "it says that others were added");
    check(changed.removed.size() == before.size() + added - after.size(),
          "it says that others were removed");
  }
  static std::vector<std::string> homes(const Client& client) {
    std::vector<std::string> all;
    for (int i = 0; i < 20; ++i) all.push_back(client.locate("probe" + std::to_string(i))->node);
    return all;
  }

  SimStore store_;
  std::vector<NodeConfig> all_;
  Random random_;
  bool over_ = false;
};

TEST(Reconfiguration, AThousandTimesUnderLoadNoCallFailsAndNoValueIsWrong) {
  const auto world = std::make_shared<ReconfigurationWorld>(1);
  const SimThreads::Limits limits{.time = 10h, .points = 1'000'000'000};
  EXPECT_EQ(SimThreads::run(world->world, 1, [world] { world->run(); }, limits), "");
  EXPECT_EQ(world->changes, 1'000u);
  EXPECT_GT(world->calls, 1'000u);
  EXPECT_GT(world->moves, 1'000u);
}

}  // namespace
}  // namespace sheaf::sim
