// Real memcached servers that stop, die, return empty or are full, under load.

#include <gtest/gtest.h>

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/live/client/memcached_fleet.h"
#include "tests/support/extent.h"
#include "tests/support/sanitized.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::Fleet;
using test::FleetLoad;
using Duration = Fleet::Clock::duration;
using test::slowness;
using testing::Test;

// How often a server leaves and returns in a test.
int outages(int usual = 3) {
  return static_cast<int>(test::extent_of(static_cast<std::uint64_t>(usual)));
}

// By design 1.2 s and 1 s; the rest is for a busy machine. Tests in virtual time check the design
// itself.
constexpr auto return_limit = 3s;
constexpr auto rehash_limit = 3s;

// Every outage must meet the goal.
void expect_within(Duration goal, const std::vector<Duration>& times) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  ASSERT_FALSE(times.empty());
  std::string all;
  for (const Duration time : times) all += std::to_string(Milliseconds(time).count()) + " ms ";
  Test::RecordProperty("recovery", all);
  EXPECT_LT(std::ranges::max(times), goal * slowness) << all;
}

// Expects that none of the requests that a server has counted since `before` only tested if it was
// back: each was answered, or was sent before the node was considered down.
void expect_only_requests_that_were_wanted(const Fleet& fleet, unsigned index,
                                           const NodeStats& before) {
  const NodeStats now = fleet.stats(index);
  const std::uint64_t arrived = fleet.arrived(index);
  const std::uint64_t answered = now.replies - before.replies;
  EXPECT_GE(arrived, answered);
  EXPECT_LE(arrived, answered + now.unknown - before.unknown);
}

// A server leaves under load, for longer than a probe interval, and returns. Returns how long its
// keys then failed.
template <class Leave, class Return>
Duration outage(Fleet& fleet, const FleetLoad& load, unsigned index, const Leave& leave,
                const Return& come_back) {
  load.wait_for(500);
  leave();
  fleet.wait_until_down(index);
  fleet.wait_for_probes(index);
  const NodeStats down = fleet.stats(index);
  come_back();
  const Duration time = fleet.time_to_success(index);
  EXPECT_EQ(fleet.stats(index).unknown, down.unknown) << "requests sent to a node that was down";
  return time;
}

TEST(MemcachedFaults, OneOfEightIsKilledUnderLoadAndComesBackEmpty) {
  Fleet fleet(8);
  test::MemcachedProcess& server = fleet.servers[3].to_break();
  FleetLoad load(fleet, 3, true);
  NodeStats down;
  const auto restart = [&] {
    down = fleet.stats(3);
    server.restart();
  };
  std::vector<Duration> times;
  for (int i = 0; i < outages(); ++i) {
    times.push_back(outage(fleet, load, 3, [&] { server.kill(); }, restart));
  }
  load.wait_for(500);
  load.end();
  expect_within(return_limit, times);
  expect_only_requests_that_were_wanted(fleet, 3, down);
}

TEST(MemcachedFaults, OneOfEightIsStoppedUnderLoadAndGoesOn) {
  Fleet fleet(8);
  test::MemcachedProcess& server = fleet.servers[5].to_break();
  FleetLoad load(fleet, 5, false);
  std::vector<Duration> times;
  for (int i = 0; i < outages(); ++i) {
    times.push_back(outage(fleet, load, 5, [&] { server.stop(); }, [&] { server.resume(); }));
  }
  load.wait_for(500);
  load.end();
  expect_within(return_limit, times);
  expect_only_requests_that_were_wanted(fleet, 5, {});
}

TEST(MemcachedFaults, InBinaryOneOfEightIsStoppedAndThenKilledUnderLoad) {
  Fleet fleet(8, "?protocol=binary");
  test::MemcachedProcess& server = fleet.servers[6].to_break();
  FleetLoad load(fleet, 6, true);
  const std::vector<Duration> times = {
      outage(
          fleet, load, 6, [&] { server.stop(); }, [&] { server.resume(); }),
      outage(fleet, load, 6, [&] { server.kill(); }, [&] { server.restart(); })};
  load.wait_for(500);
  load.end();
  expect_within(return_limit, times);
}

// Four threads read batches of a hundred keys, so the server has connections besides the client's
// first one.
TEST(MemcachedFaults, AServerThatIsReadOverSeveralConnectionsIsStoppedAndThenKilledUnderLoad) {
  Fleet fleet(1);
  test::MemcachedProcess& server = fleet.servers[0].to_break();
  FleetLoad load(fleet, 0, true, FleetLoad::Reads::in_batches);
  std::vector<Duration> times;
  const auto leave_and_return = [&](const auto& leave, const auto& come_back) {
    const auto end = Fleet::Clock::now() + 20s;
    while (fleet.stats(0).connections < 3) ASSERT_LT(Fleet::Clock::now(), end);
    leave();
    fleet.wait_until_down(0);
    fleet.wait_for_probes(0);
    come_back();
    times.push_back(fleet.time_to_success(0));
    load.wait_for(500);
  };
  for (int i = 0; i < outages(2); ++i) {
    leave_and_return([&] { server.stop(); }, [&] { server.resume(); });
    leave_and_return([&] { server.kill(); }, [&] { server.restart(); });
  }
  load.end();
  expect_within(return_limit, times);
}

TEST(MemcachedFaults, OneOfEightIsAtItsConnectionLimitUnderLoad) {
  Fleet fleet(8, "", 2);
  std::vector<Duration> times;
  for (int i = 0; i < outages(); ++i) {
    fleet.client.reset();
    std::vector<Client> all = test::crowd(fleet.node(2));
    fleet.open_client();
    const auto refused = fleet.client->get(fleet.key_on(2), {.timeout = 10s});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("too many open connections"), std::string::npos)
        << refused.error().message();
    FleetLoad load(fleet, 2, false);
    fleet.wait_for_probes(2);
    all.clear();
    times.push_back(fleet.time_to_success(2));
    load.wait_for(500);
    load.end();
  }
  expect_within(return_limit, times);
}

TEST(MemcachedFaults, NoUserRequestIsSpentOnProbing) {
  Fleet fleet(3);
  fleet.servers[1].to_break().stop();
  fleet.wait_until_down(1);
  const NodeStats down = fleet.stats(1);
  while (fleet.stats(1).probes < down.probes + 2) {
    const auto got = fleet.client->get(fleet.key_on(1), {.timeout = 5s});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().outcome, Outcome::not_sent);
    EXPECT_EQ(got.error().reason, Reason::node_down);
  }
  EXPECT_EQ(fleet.stats(1).unknown, down.unknown);
  fleet.servers[1].to_break().resume();
  expect_within(return_limit, {fleet.time_to_success(1)});
  expect_only_requests_that_were_wanted(fleet, 1, {});
}

// Reads every key where the client finds it. Each must hold its own name.
void expect_all_keys(Fleet& fleet) {
  for (const auto& [key, got] : fleet.client->get_many(fleet.keys, {.timeout = 1s})) {
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_TRUE(got->has_value()) << key;
    EXPECT_EQ((**got).data, key);
  }
}

// Sets every key until all keys of this node, and no others, are on it again.
void expect_back_at_owner(Fleet& fleet, unsigned index) {
  Client direct = test::open("memcached://" + fleet.node(index));
  const std::string& first = fleet.key_on(index);
  const auto end = Fleet::Clock::now() + 20s;
  while (!direct.get(first).value().has_value()) {
    ASSERT_LT(Fleet::Clock::now(), end);
    fleet.client->set(first, first).value();
  }
  EXPECT_EQ(fleet.set_all(), 0u);
  const auto found = direct.get_many(fleet.keys, {.timeout = 5s});
  for (std::size_t key = 0; key < fleet.names.size(); ++key) {
    EXPECT_EQ(found[key].result.value().has_value(), fleet.owners[key] == index)
        << fleet.names[key];
  }
  expect_all_keys(fleet);
}

TEST(MemcachedFaults, WithRehashAllKeysOfAKilledServerAreServedWithinASecondAndReturnToIt) {
  Fleet fleet(3, "?failover=rehash");
  std::vector<Duration> times;
  for (int i = 0; i < outages(); ++i) {
    fleet.servers[1].to_break().kill();
    const auto start = Fleet::Clock::now();
    while (fleet.set_all() > 0) {
      ASSERT_LT(Fleet::Clock::now() - start, 5s);
    }
    expect_all_keys(fleet);
    times.push_back(Fleet::Clock::now() - start);
    fleet.servers[1].to_break().restart();
    expect_back_at_owner(fleet, 1);
  }
  expect_within(rehash_limit, times);
}

TEST(MemcachedFaults, WithRehashUnderLoadNothingFailsAfterTheFirstSecondNorAtTheReturn) {
  Fleet fleet(3, "?failover=rehash");
  FleetLoad load(fleet, 1, true);
  load.wait_for(500);
  fleet.servers[1].to_break().kill();
  const auto second = Fleet::Clock::now() + 1s * slowness;
  while (Fleet::Clock::now() < second) load.wait_for(10);
  const std::uint64_t failed = load.failed();
  load.wait_for(4'000);  // every key, several times
  fleet.servers[1].to_break().restart();
  const auto end = Fleet::Clock::now() + 20s;
  while (fleet.stats(1).health == NodeHealth::down) ASSERT_LT(Fleet::Clock::now(), end);
  load.wait_for(4'000);
  load.end();
  EXPECT_EQ(load.failed(), failed);
  expect_back_at_owner(fleet, 1);
}

}  // namespace
}  // namespace sheaf
#endif
