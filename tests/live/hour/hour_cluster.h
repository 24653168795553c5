#pragma once

// HourCluster: one of the clusters of a live hour, with its load, and the events that concern it
// alone. Each event waits until the cluster agrees about it, and then until the load is back.
//
// Thread rule: one thread.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/live/hour/hour_load.h"
#include "tests/support/resp_cluster.h"

namespace sheaf::test {

// Waits until `holds`, until the limit at most; false if it does not.
bool comes_true(const std::function<bool()>& holds,
                std::chrono::seconds limit = std::chrono::seconds(20));
// For a call that asks whether the load is back.
constexpr std::chrono::milliseconds probe_time{3'000};

class HourCluster {
 public:
  using Clock = LossTime::Clock;

  // Three primaries, each with a replica. `mark` begins the load's values.
  HourCluster(RespSoftware software, std::string mark, HourRecord& record, std::uint64_t seed);

  // ---- events
  void move_slots(Random& random);
  void fail_over(Random& random);
  void fail_over_by_force(Random& random);
  // Kills a primary, and its replica is elected. Redis only.
  void lose_a_primary(Random& random);
  // A server of this cluster starts at the address of one of `victim`, which is killed, and serves
  // there for some seconds. Then both return.
  void take_an_address(HourCluster& victim, Random& random);

  // Ends the load, and adds what it found to the record.
  void finish();

  RespCluster cluster;
  ClusterObserver observer;

 private:
  // An event during which calls for the slots may fail.
  struct Event {
    std::string name;
    SlotSet slots;
    std::optional<std::size_t> permission{};
    std::optional<std::size_t> loss{};
  };
  enum class Loses : bool { nothing, latest };

  // Waits until the cluster has settled from what was before.
  Event begin(std::string name, std::size_t server, Loses loses);
  // Waits until all servers say that `owner` serves the slots, then until the load is served. What
  // they said before `not_before` does not count.
  void end(const Event& event, std::size_t owner, Clock::time_point not_before = {});
  bool write_probes(const SlotSet& slots);
  void fail_over_garnet(const Event& event, std::size_t from, std::size_t to);
  // A primary at random, and its replica.
  struct Shard {
    std::size_t primary;
    std::size_t replica;
  };
  Shard any_shard(Random& random);
  void make_replica(const Shard& shard);
  std::vector<std::uint16_t> slots_to_move(std::size_t from, Random& random);
  Loses loses_when_killed() const { return cluster.is_garnet() ? Loses::latest : Loses::nothing; }

  HourRecord& record_;
  CallJudge judge_{observer};
  LossTimes losses_;
  std::optional<HourLoad> load_;
  std::vector<std::string> probes_;  // keys that only write_probes() uses
};

}  // namespace sheaf::test

#endif
