// Locks on memcached in virtual time: lockers that stall, requests that come late or never,
// connections that end, a server that restarts and counts seconds as memcached does.

#include <gtest/gtest.h>

#include "tests/sim/cas_world.h"
#include "tests/sim/kit/seeds.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::lock::LockControls;

constexpr auto run_length = 30s;

// ---- the table itself

protocol::Operation store(std::string_view value, std::chrono::milliseconds ttl = 0ms) {
  protocol::Operation operation;
  operation.verb = protocol::Verb::set;
  operation.key = "k";
  operation.value = value;
  operation.ttl = ttl;
  return operation;
}

bool has(CacheTable& table, const CacheClock& clock) {
  protocol::Operation get;
  get.key = "k";
  return table.execute(get, clock).status == protocol::Status::done;
}

// Asked for 3 s, a real memcached 1.6.18 kept an item for 1.01 s, the shortest life measured.
TEST(CacheTable, AnItemMayLiveTwoSecondsShorterThanAsked) {
  CacheTable table;
  CacheClock clock(0.9995);
  clock.read(400us);                     // at 0.9995
  clock.read(400us);                     // at 1.9999
  table.execute(store("v", 3s), clock);  // at 3.0002, say: the clock still shows second 1
  clock.read(400us);                     // at 3.0003
  EXPECT_EQ(clock.second(), 3);
  EXPECT_TRUE(has(table, clock));
  clock.read(400us);  // at 4.0007
  EXPECT_FALSE(has(table, clock));
}

TEST(CacheTable, VersionsCountFromOneAgainAfterARestart) {
  CacheTable table;
  const CacheClock clock(0.5);
  EXPECT_EQ(table.execute(store("v"), clock).version, "1");
  EXPECT_EQ(table.execute(store("v"), clock).version, "2");
  table.restart();
  EXPECT_FALSE(has(table, clock));
  EXPECT_EQ(table.execute(store("v"), clock).version, "1");
}

// ---- locks

TEST(CasLocks, NeverTwoBelieveAndNoIncrementIsLostForEverySeed) {
  unsigned grants = 0;
  unsigned counted = 0;
  unsigned losses = 0;
  const Seeds seeds = seeds_of(3000);
  for (const std::uint64_t seed : seeds) {
    CasWorld world(seed);
    world.run(run_length);
    ASSERT_EQ(world.pairs_of_believers(), 0u);
    world.finish();
    ASSERT_FALSE(world.miscounted());
    grants += world.grants();
    counted += world.counted();
    losses += world.losses();
  }
  if (!seeds.adds_up()) return;
  EXPECT_GT(grants, 10 * seeds.count());
  EXPECT_GT(losses, seeds.count() / 10);
  EXPECT_GT(counted, 10 * seeds.count());
}

bool two_believe(LockControls controls) {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    CasWorld world(seed, controls);
    world.run(run_length);
    if (world.pairs_of_believers() > 0) return true;
  }
  return false;
}

TEST(CasLocks, WithoutTheGraceTwoBelieve) { EXPECT_TRUE(two_believe({.grace = 0s})); }

TEST(CasLocks, WithOneSecondOfGraceTwoBelieveStill) { EXPECT_TRUE(two_believe({.grace = 1s})); }

// A late renewal makes the former holder the holder again, and it then gives back a lock that
// belongs to another.
TEST(CasLocks, WithPlainSetsAsRenewalsTwoBelieve) { EXPECT_TRUE(two_believe({.compare = false})); }

TEST(CasLocks, WithATakeOverBeforeTheLeaseEndsTwoBelieve) {
  EXPECT_TRUE(two_believe({.outwait = false}));
}

// The number of seeds whose counter has an increment too few or too many.
unsigned miscounting_seeds(CasHabits habits, std::uint64_t seeds) {
  unsigned count = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    CasWorld world(seed, {}, habits);
    world.run(run_length);
    world.finish();
    if (world.miscounted()) ++count;
  }
  return count;
}

TEST(CasLocks, WhoeverNeverLooksWhetherTheLockIsHeldLosesNothingEither) {
  EXPECT_EQ(miscounting_seeds({.check = false}, 500), 0u);
}

TEST(CasLocks, WithoutComparingVersionsIncrementsAreLost) {
  EXPECT_GT(miscounting_seeds({.check = false, .compare = false}, 50), 0u);
}

}  // namespace
}  // namespace sheaf::sim
