// The same on Garnet as on Redis (redis_changes_test.cpp), as far as Garnet can do it, and what is
// Garnet's own: a server holds writes back while their slot is on its way.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <atomic>
#include <functional>
#include <stdexcept>

#include "protocol/resp/hash_slot.h"
#include "tests/live/client/loaded_cluster.h"
#include "tests/support/garnet_process.h"

namespace sheaf::test {
namespace {

using protocol::resp::hash_slot;
using Clock = std::chrono::steady_clock;

RespClusterOptions garnet_options(std::size_t replicas) {
  RespClusterOptions options;
  options.software = RespClusterOptions::Software::garnet;
  options.replicas = replicas;
  options.server.persistent = true;
  return options;
}

TEST(GarnetChanges, SlotsMoveUnderLoad) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  LoadedCluster loaded(garnet_options(0));
  loaded.move_slots(3);
  loaded.expect_all_good();
}

// MOVED and ASK name a port and "?".
TEST(GarnetChanges, SlotsMoveUnderLoadBetweenServersThatNameNoHosts) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  RespClusterOptions options = garnet_options(0);
  options.server.arguments = {"--cluster-preferred-endpoint-type", "unknown"};
  LoadedCluster loaded(options);
  loaded.move_slots(3);
  loaded.expect_all_good();
}

// FORCE, because Garnet aborts a planned failover whenever a replica is a moment behind. Then two
// servers take writes for a moment, and those of the old one are lost.
TEST(GarnetChanges, APrimaryFailsOverUnderLoad) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  LoadedCluster loaded(garnet_options(1), Loss::latest);
  loaded.cluster.fail_over(3, "FORCE");
  loaded.expect_all_good();
}

// Both servers send clients to each other, then nobody serves the slots for a moment. Sometimes
// nobody owns them in the end, until somebody says who does.
TEST(GarnetChanges, APlannedFailoverIsTriedUnderLoad) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  LoadedCluster loaded(garnet_options(1), Loss::latest);
  RespCluster& cluster = loaded.cluster;
  EXPECT_EQ(cluster.text(3, {"CLUSTER", "FAILOVER"}), "+OK");
  wait_for_condition("the failover has ended", [&] {
    const std::string state = cluster.text(3, {"INFO", "replication"});
    return state.contains("last_failover_state:failover-aborted") ||
           state.contains("last_failover_state:failover-completed");
  });
  const auto ended = LoadWriter::Clock::now();
  const auto has_owner = [&] {
    try {
      return cluster.owner(0) == 0 || cluster.owner(0) == 3;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  wait_for_condition("the slots have an owner, or none for 5 s",
                     [&] { return has_owner() || LoadWriter::Clock::now() - ended > 5s; });
  if (!has_owner()) {
    testing::Test::RecordProperty("outcome", "nobody owned the slots");
    EXPECT_EQ(cluster.text(0, {"CLUSTER", "ADDSLOTSRANGE", 0, 5460}), "+OK");
  }
  loaded.expect_all_good();
}

TEST(GarnetChanges, AServerStandsStillUnderLoad) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  LoadedCluster loaded(garnet_options(0));
  loaded.stand_still(1, 5s);
  loaded.expect_all_good();
}

// What it had acknowledged and not yet written to its file is lost with it.
TEST(GarnetChanges, AServerComesBackElsewhereUnderLoad) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  LoadedCluster loaded(garnet_options(0), Loss::latest);
  loaded.cluster.kill(2);
  loaded.cluster.restart_elsewhere(2);
  loaded.expect_all_good();
}

// ---- a large slot

// What callers of one kind have met.
struct Tally {
  std::atomic<unsigned> good = 0;
  std::atomic<unsigned> unknown = 0;
  std::atomic<unsigned> not_sent = 0;
  std::atomic<unsigned> other = 0;
  std::atomic<std::int64_t> longest_ms = 0;

  // One call, and what it returned.
  template <class T>
  void add(const Result<T>& result, Clock::time_point begun) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    std::int64_t longest = longest_ms;
    while (took.count() > longest && !longest_ms.compare_exchange_weak(longest, took.count())) {
    }
    if (result) return static_cast<void>(++good);
    const Outcome outcome = result.error().outcome;
    if (outcome == Outcome::unknown) return static_cast<void>(++unknown);
    if (outcome == Outcome::not_sent) return static_cast<void>(++not_sent);
    ADD_FAILURE() << result.error().message();
    ++other;
  }
  std::string text() const {
    return std::to_string(good) + " good, " + std::to_string(unknown) + " unknown, " +
           std::to_string(not_sent) + " not sent, the longest " + std::to_string(longest_ms) +
           " ms";
  }
};

// A cluster of three servers in which one slot has 20,000 keys, and threads that use them with a
// deadline of a second.
class LargeSlot {
 public:
  static constexpr unsigned keys = 20'000;
  static constexpr auto deadline = 1s;

  LargeSlot() : cluster(garnet_options(0)) {
    cluster.wait_until_settled();
    from = cluster.owner(slot);
    to = (from + 1) % 3;
    std::vector<RespConnection::Words> some;
    for (unsigned i = 0; i < keys; ++i) {
      some.push_back({"SET", name("k", i), std::string(100, 'v')});
      if (some.size() < 1'000) continue;
      cluster.ask_all(from, some);
      some.clear();
    }
    for (unsigned n = 0; neighbour.empty(); ++n) {
      const std::string key = "neighbour" + std::to_string(n);
      if (cluster.owner(hash_slot(key)) == 3 - from - to) neighbour = key;
    }
    const std::string seed = std::to_string(cluster.server(from).port());
    client.emplace(open("redis://127.0.0.1:" + seed + "?connect_timeout=2s"));
  }

  static std::string name(const std::string& kind, unsigned number) {
    return "{foo}" + kind + std::to_string(number);
  }

  // Repeats a call until it returns false or the object is told to stop.
  void repeat(const std::function<bool(unsigned number)>& call) {
    threads_.emplace_back([call](const std::stop_token& stop) {
      for (unsigned number = 0; !stop.stop_requested() && call(number); ++number) {
      }
    });
  }
  // The server moves the slot by itself; returns when that is over.
  void move() {
    const std::string port = std::to_string(cluster.server(to).port());
    EXPECT_EQ(cluster.text(from, {"MIGRATE", "127.0.0.1", port, "", "0", "-1", "SLOTS", slot}),
              "+OK");
    wait_for_condition("the slot has moved", [&] { return cluster.owner(slot) == to; });
  }
  void stop() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
  }

  const std::uint16_t slot = hash_slot("{foo}");
  RespCluster cluster;
  std::size_t from = 0;
  std::size_t to = 0;
  std::string neighbour;  // a key of the third server
  std::optional<Client> client;
  Tally sets;
  Tally adds;
  Tally removes;
  Tally neighbours;

 private:
  std::vector<std::jthread> threads_;
};

void set_keys(LargeSlot& large) {
  large.repeat([&large](unsigned n) {
    const auto begun = Clock::now();
    const std::string key = LargeSlot::name("k", n % (LargeSlot::keys / 2));
    large.sets.add(large.client->set(key, "new", {.timeout = LargeSlot::deadline}), begun);
    return true;
  });
}

// One that is done twice is not stored the second time.
void add_keys(LargeSlot& large, const std::string& kind) {
  large.repeat([&large, kind](unsigned n) {
    SetOptions options;
    options.condition = SetCondition::if_absent;
    options.timeout = LargeSlot::deadline;
    const auto begun = Clock::now();
    const auto stored = large.client->set(LargeSlot::name(kind, n), "v", options);
    EXPECT_TRUE(!stored || stored->stored) << kind << n;
    large.adds.add(stored, begun);
    return true;
  });
}

// One that is done twice finds no key the second time.
void remove_keys(LargeSlot& large, unsigned first, unsigned end) {
  large.repeat([&large, first, end](unsigned n) {
    RemoveOptions options;
    options.timeout = LargeSlot::deadline;
    const auto begun = Clock::now();
    const auto removed = large.client->remove(LargeSlot::name("k", first + n), options);
    EXPECT_TRUE(!removed || *removed == RemoveResult::removed) << first + n;
    large.removes.add(removed, begun);
    return first + n + 1 < end;
  });
}

void use_neighbour(LargeSlot& large) {
  large.repeat([&large](unsigned n) {
    const auto begun = Clock::now();
    const std::string value = std::to_string(n);
    const auto stored = large.client->set(large.neighbour, value, {.timeout = LargeSlot::deadline});
    large.neighbours.add(stored, begun);
    return true;
  });
}

TEST(GarnetChanges, ALargeSlotMovesWhileWritersRunAndNoWriteIsRepeated) {
  if (!garnet_server()) GTEST_SKIP() << no_garnet;
  LargeSlot large;
  set_keys(large);
  set_keys(large);
  add_keys(large, "a");
  add_keys(large, "b");
  use_neighbour(large);
  wait_for_condition("all write", [&] {
    return large.sets.good > 100 && large.adds.good > 100 && large.neighbours.good > 100;
  });
  remove_keys(large, 10'000, 15'000);
  remove_keys(large, 15'000, 20'000);
  large.move();
  const unsigned sets = large.sets.good;
  const unsigned adds = large.adds.good;
  wait_for_condition("the new owner serves",
                     [&] { return large.sets.good > sets + 100 && large.adds.good > adds + 100; });
  large.stop();

  // The moves of the slot delay no other server's keys. A machine that does more beside the test
  // may.
  const unsigned late = large.neighbours.unknown + large.neighbours.not_sent;
  EXPECT_GT(large.neighbours.good, 20 * late) << large.neighbours.text();
  testing::Test::RecordProperty("sets", large.sets.text());
  testing::Test::RecordProperty("adds", large.adds.text());
  testing::Test::RecordProperty("removes", large.removes.text());
  testing::Test::RecordProperty("neighbours", large.neighbours.text());
  for (unsigned n = 0; n < LargeSlot::keys / 2; ++n) {
    const auto got = large.client->get(LargeSlot::name("k", n), {.timeout = 10s});
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_TRUE(*got) << "the key " << n << " is lost";
  }
}

}  // namespace
}  // namespace sheaf::test

#endif
