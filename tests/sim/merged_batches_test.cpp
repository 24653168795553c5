// Which connections the batches of several simulated threads use on one Redis server: a server that
// answers small ones for less when they arrive together.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "base/quiet_thread.h"
#include "tests/sim/kit/sim_resp.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/sim_transport.h"
#include "tests/sim/kit/thread_checks.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;

struct Scene {
  unsigned threads = 0;
  unsigned keys = 0;  // of a batch
  bool spin = true;
  bool others_compute = false;
};

class BatchWorld {
 public:
  BatchWorld() {
    config_.kind = EndpointKind::redis;
    config_.routing = RoutingKind::ring;
    config_.nodes = resp_.addresses();
  }

  void run(const Scene& scene) {
    use_network(network_, {});
    config_.spin = scene.spin;
    Client client = *Client::open(config_);
    std::vector<std::string> names;
    for (unsigned i = 0; i < scene.keys; ++i) names.push_back("{t}" + std::to_string(i));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    std::vector<QuietThread> threads;
    for (unsigned t = 0; t < scene.threads; ++t) {
      threads.emplace_back("reader", [&] {
        while (world_.now().mono < begun_ + 100ms) {
          if (scene.others_compute) find_contention(client);
          for (const auto& each : client.get_many(keys)) check(each.result.has_value(), "no get");
        }
      });
    }
    for (QuietThread& thread : threads) thread.join();
  }
  SimWorld& world() { return world_; }

  // Which connections carried keys once all of them had been made.
  std::size_t connections() const {
    std::set<std::uint64_t> used;
    for (const auto& execution : resp_.log().executions()) {
      if (execution.at > begun_ + 50ms) used.insert(execution.connection);
    }
    return used.size();
  }

 private:
  SimWorld world_{1};
  SimNetwork network_{world_};
  SimResp resp_{network_, 1, 1};
  ClusterConfig config_;
  const Deadline begun_ = world_.now().mono;
};

std::size_t connections_of(const Scene& scene) {
  const auto world = std::make_shared<BatchWorld>();
  EXPECT_EQ(SimThreads::run(world->world(), 1, [world, scene] { world->run(scene); }), "");
  return world->connections();
}

TEST(MergedBatches, SmallBatchesOfManyThreadsShareTheClientsOwnConnection) {
  EXPECT_EQ(connections_of({.threads = 8, .keys = 10}), 1u);
  EXPECT_EQ(connections_of({.threads = 12, .keys = 100}), 1u);
  EXPECT_EQ(connections_of({.threads = 8, .keys = 10, .spin = false}), 1u);
}

TEST(MergedBatches, SmallBatchesOfFewThreadsHaveConnectionsOfTheirOwn) {
  EXPECT_GT(connections_of({.threads = 3, .keys = 10}), 1u);
  EXPECT_GT(connections_of({.threads = 6, .keys = 100, .spin = false}), 1u);
}

TEST(MergedBatches, LargeBatchesHaveConnectionsOfTheirOwn) {
  EXPECT_GT(connections_of({.threads = 8, .keys = 200}), 1u);
}

// The system shares out processors by threads that can run.
TEST(MergedBatches, SmallBatchesHaveConnectionsOfTheirOwnWhereOthersCompute) {
  EXPECT_GT(connections_of({.threads = 8, .keys = 100, .others_compute = true}), 1u);
}

}  // namespace
}  // namespace sheaf::sim
