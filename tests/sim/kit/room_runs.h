#pragma once

// Runs of a room (thread_room.h) for many seeds.
//
// Replay one seed: SHEAF_SIM_SEED=1234 test_sim --gtest_filter='LockRoom.*'. More of them:
// SHEAF_SIM_SEEDS=100000.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/sim/kit/seeds.h"
#include "tests/sim/kit/sim_threads.h"
#include "tests/sim/kit/thread_room.h"

namespace sheaf::sim {

struct RoomEnd {
  std::string finding;  // empty: nothing
  std::uint64_t trace = 0;
  RoomCounts counts;
};

template <class Room>
RoomEnd run_room(std::uint64_t seed, const Plants& plants = {}) {
  const auto room = std::make_shared<Room>(seed, plants);
  SimThreads::Limits limits;
  limits.bugs = plants.primitives;
  RoomEnd end;
  end.finding = SimThreads::run(room->world(), seed, [room] { room->main(); }, limits);
  end.trace = room->world().trace();
  end.counts = room->counts();
  return end;
}

// Runs `usual` seeds, or as many as the environment says; none may find anything. Returns the sum
// of their counts.
template <class Room>
RoomCounts run_seeds(std::uint64_t usual, const Plants& plants = {}) {
  const std::uint64_t one = number_from_environment("SHEAF_SIM_SEED", 0);
  const std::uint64_t first = one != 0 ? one : 1;
  const std::uint64_t count = one != 0 ? 1 : seeds_to_run(usual);
  RoomCounts sum;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const RoomEnd end = run_room<Room>(seed, plants);
    EXPECT_EQ(end.finding, "") << "replay with SHEAF_SIM_SEED=" << seed;
    if (!end.finding.empty()) return sum;
    sum.calls += end.counts.calls;
    sum.failures += end.counts.failures;
    sum.special += end.counts.special;
    sum.changes += end.counts.changes;
  }
  return sum;
}

template <class Room>
void expect_replays(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const RoomEnd first = run_room<Room>(seed);
    const RoomEnd second = run_room<Room>(seed);
    ASSERT_EQ(first.trace, second.trace) << seed;
    ASSERT_EQ(first.counts.calls, second.counts.calls) << seed;
  }
}

// For controls: returns the first of 2,000 seeds that finds what was planted and finds nothing
// without it. `what` is a part of the finding.
template <class Room>
std::uint64_t first_finding(const Plants& plants, const std::string& what = {}) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const RoomEnd end = run_room<Room>(seed, plants);
    if (end.finding.empty()) continue;
    EXPECT_NE(end.finding.find(what), std::string::npos) << seed << ": " << end.finding;
    Plants without;
    without.servers_change = plants.servers_change;
    EXPECT_EQ(run_room<Room>(seed, without).finding, "") << seed;
    return seed;
  }
  ADD_FAILURE() << "no seed found it";
  return 0;
}

}  // namespace sheaf::sim
