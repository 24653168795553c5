#pragma once

// Runs of a room (thread_room.h) for many seeds.

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

// None of the seeds may find anything. Returns the sum of their counts.
template <class Room>
RoomCounts run_seeds(const Seeds& seeds, const Plants& plants = {}) {
  RoomCounts sum;
  for (const std::uint64_t seed : seeds) {
    const RoomEnd end = run_room<Room>(seed, plants);
    EXPECT_EQ(end.finding, "");
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
