// Large batches that several threads read from one real memcached server at once, and single keys
// that they read with spin=false: they get connections of their own, and the same answers as
// without them.

#include <gtest/gtest.h>

#include <sheaf/async.h>

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/read_clocks.h"
#include "client/runtime/extra_connections.h"
#include "cluster/placement/topology.h"
#include "protocol/memcached/sessions.h"
#include "tests/live/client/memcached_fleet.h"
#include "tests/support/event_logs.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::Fleet;

constexpr std::size_t large_size = 100;  // keys

// Threads that read a fleet's keys, `size` at once, and check every answer. Each key holds its own
// name.
class Readers {
 public:
  Readers(Client& client, const Fleet& fleet, unsigned threads, std::size_t size = large_size)
      : client_(client), fleet_(fleet), size_(size) {
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back([this, t] { run(t); });
  }
  ~Readers() { stop(); }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  void wait_for(std::uint64_t more) const {
    const std::uint64_t wanted = done_ + more;
    while (done_ < wanted) std::this_thread::yield();
  }
  // Returns the number of reads. None may have failed.
  std::uint64_t end() {
    stop();
    EXPECT_EQ(failed_, 0u);
    EXPECT_EQ(wrong_, 0u);
    return done_;
  }

 private:
  void stop() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void run(std::size_t thread) {
    for (std::size_t at = thread * 10; !over_; at = (at + size_) % (fleet_.keys.size() - size_)) {
      size_ == 1 ? read(fleet_.keys[at]) : read_many({fleet_.keys.data() + at, size_});
      ++done_;
    }
  }
  void read(std::string_view key) { check(key, client_.get(key, {.timeout = 20s})); }
  void read_many(std::span<const std::string_view> keys) {
    const auto all = client_.get_many(keys, {.timeout = 20s});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      wrong_ += all[i].key != keys[i];
      check(keys[i], all[i].result);
    }
  }
  void check(std::string_view key, const Result<GetResult>& got) {
    failed_ += !got;
    wrong_ += got && (!*got || (*got)->data != key);
  }

  Client& client_;
  const Fleet& fleet_;
  std::size_t size_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<std::uint64_t> wrong_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

void read_some(Fleet& fleet, unsigned threads, std::size_t size) {
  Readers readers(*fleet.client, fleet, threads, size);
  readers.wait_for(300);
  readers.end();
}

void wait_for_connections(const Fleet& fleet, std::uint32_t wanted) {
  const auto end = Fleet::Clock::now() + 20s;
  while (fleet.stats(0).connections != wanted) {
    ASSERT_LT(Fleet::Clock::now(), end) << fleet.stats(0).connections << " of " << wanted;
    std::this_thread::yield();
  }
}

class ExtraConnections : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(In, ExtraConnections, testing::Values("meta", "binary"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(ExtraConnections, ThreadsThatReadLargeBatchesOfOneServerGetConnectionsOfTheirOwn) {
  Fleet fleet(1, std::string("?extra_connections=3&protocol=") + GetParam());
  const NodeStats before = fleet.stats(0);
  Readers readers(*fleet.client, fleet, 6);
  wait_for_connections(fleet, 4);
  readers.wait_for(200);
  const std::uint64_t batches = readers.end();
  const NodeStats after = fleet.stats(0);
  EXPECT_EQ(after.connections, 4u);
  EXPECT_EQ(after.connects, 4u);
  EXPECT_EQ(after.requests - before.requests, batches * large_size);
  EXPECT_EQ(after.replies - before.replies, batches * large_size);
  EXPECT_EQ(after.in_flight, 0u);
  EXPECT_EQ(after.health, NodeHealth::up);
}

TEST_P(ExtraConnections, ThreadsThatSleepGetConnectionsOfTheirOwnForSingleKeysOfManyServers) {
  Fleet fleet(3, std::string("?spin=false&extra_connections=4&protocol=") + GetParam());
  const auto total = [&](auto member) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 3; ++i) sum += fleet.stats(i).*member;
    return sum;
  };
  const std::uint64_t before = total(&NodeStats::requests);
  Readers readers(*fleet.client, fleet, 4, 1);
  const auto end = Fleet::Clock::now() + 20s;
  while (total(&NodeStats::connections) < 12) ASSERT_LT(Fleet::Clock::now(), end);
  readers.wait_for(1'000);
  const std::uint64_t gets = readers.end();
  EXPECT_EQ(total(&NodeStats::requests) - before, gets);
  EXPECT_LE(total(&NodeStats::connects), 15u) << "its own, and one for each thread";
  EXPECT_EQ(total(&NodeStats::in_flight), 0u);
}

// The connections are not watched between two gets, so the next get finds out that one has ended.
TEST(MemcachedExtraConnections, GetsOfThreadsThatSleepDoNotFailBecauseAServerWasRestarted) {
  Fleet fleet(2, "?spin=false");
  for (int i = 0; i < 5; ++i) {
    {
      Readers readers(*fleet.client, fleet, 4, 1);
      const auto end = Fleet::Clock::now() + 20s;
      while (fleet.stats(0).connections < 3) ASSERT_LT(Fleet::Clock::now(), end);
      readers.end();
    }
    fleet.servers[0].to_break().kill();
    fleet.servers[0].to_break().restart();
    const auto end = Fleet::Clock::now() + 20s;
    while (fleet.set_all() > 0) ASSERT_LT(Fleet::Clock::now(), end);
  }
}

TEST(MemcachedExtraConnections, NoneAreOpenedForOneThreadOrSmallBatches) {
  Fleet one(1);
  read_some(one, 1, large_size);
  read_some(one, 6, 7);
  EXPECT_EQ(one.stats(0).connects, 1u);
  Fleet two(2, "?spin=false");
  read_some(two, 1, large_size);
  EXPECT_EQ(two.stats(0).connects, 1u);
}

TEST(MemcachedExtraConnections, ThreadsThatSleepGetOneToEachServerOfABatch) {
  Fleet fleet(2, "?spin=false&extra_connections=3");
  Readers readers(*fleet.client, fleet, 3);
  const auto end = Fleet::Clock::now() + 20s;
  while (fleet.stats(0).connections < 3 || fleet.stats(1).connections < 3) {
    ASSERT_LT(Fleet::Clock::now(), end);
    std::this_thread::yield();
  }
  readers.wait_for(200);
  readers.end();
  EXPECT_LE(fleet.stats(1).connects, 4u) << "its own, and one for each thread";
}

TEST(MemcachedExtraConnections, NoneAreOpenedIfTheyAreNotWantedOrOtherNodesStandIn) {
  for (const char* const options : {"?extra_connections=0", "?failover=rehash"}) {
    Fleet fleet(1, options);
    read_some(fleet, 6, large_size);
    EXPECT_EQ(fleet.stats(0).connects, 1u) << options;
  }
}

TEST(MemcachedExtraConnections, IdleConnectionsAreClosedAndOpenedAgain) {
  Fleet fleet(1, "?extra_connections=2&idle_timeout=200ms");
  for (int i = 0; i < 3; ++i) {
    Readers readers(*fleet.client, fleet, 6);
    wait_for_connections(fleet, 3);
    readers.end();
    wait_for_connections(fleet, 1);
  }
}

// The connections that the server refuses are not needed.
TEST(MemcachedExtraConnections, AServerAtItsConnectionLimitFailsNoBatch) {
  Fleet fleet(1, "", 0);
  const std::vector<Client> all = test::crowd(fleet.node(0));
  Readers readers(*fleet.client, fleet, 6);
  const auto end = Fleet::Clock::now() + 20s;
  while (fleet.stats(0).connect_failures == 0) {
    ASSERT_LT(Fleet::Clock::now(), end);
    std::this_thread::yield();
  }
  readers.wait_for(300);
  readers.end();
  EXPECT_EQ(fleet.stats(0).health, NodeHealth::up);
}

// Other callers keep the client's own path busy. This thread's batch must not overtake its own set.
TEST(MemcachedExtraConnections, ABatchReadsWhatItsThreadHasSetAsynchronouslyBefore) {
  Fleet fleet(1);
  const std::string mine = "mine";
  std::vector<std::string_view> keys(fleet.keys.begin(), fleet.keys.begin() + large_size);
  keys.front() = mine;
  Readers readers(*fleet.client, fleet, 4);
  readers.wait_for(100);
  for (int i = 0; i < 1'000; ++i) {
    const std::string value = std::to_string(i);
    std::promise<bool> stored;
    const SetOptions options{.timeout = 20s};
    fleet.client->async().set(mine, value, options).then([&](Result<SetResult> set) {
      stored.set_value(set.has_value());
    });
    const auto all = fleet.client->get_many(keys, {.timeout = 20s});
    ASSERT_TRUE(stored.get_future().get());
    ASSERT_EQ(all.front().result.value().value().data, value);
  }
  EXPECT_GT(fleet.stats(0).connections, 1u);
  readers.end();
}

// Callers on extra connections wait in the read, where no other thread can wake them.
TEST(MemcachedExtraConnections, DeadlinesAreKeptAndStatisticsReturnedWhileAServerStandsStill) {
  Fleet fleet(1);
  constexpr auto limit = 500ms;
  std::atomic<bool> over = false;
  std::atomic<unsigned> failed = 0;
  std::array<std::chrono::nanoseconds, 4> longest{};
  std::vector<std::thread> callers;
  for (auto& own : longest) {
    callers.emplace_back([&] {
      const std::span<const std::string_view> keys(fleet.keys.data(), large_size);
      while (!over) {
        const auto start = Fleet::Clock::now();
        const auto all = fleet.client->get_many(keys, {.timeout = limit});
        own = std::max(own, Fleet::Clock::now() - start);
        failed += !all.back().result;
      }
    });
  }
  const auto end = Fleet::Clock::now() + 20s;
  while (fleet.stats(0).connections < 4 && Fleet::Clock::now() < end) std::this_thread::yield();
  fleet.servers[0].to_break().stop();
  while (failed < callers.size() && Fleet::Clock::now() < end) {
    const auto start = Fleet::Clock::now();
    fleet.stats(0);
    EXPECT_LT(Fleet::Clock::now() - start, 2s);
    std::this_thread::yield();
  }
  over = true;
  for (std::thread& caller : callers) caller.join();
  fleet.servers[0].to_break().resume();
  EXPECT_GE(failed, callers.size());
  for (const auto took : longest) EXPECT_LT(took, limit + 2s);
}

// Paths of one server, and a second thread that also borrows one.
class LentPaths : public testing::Test {
  static ClusterConfig configure(const test::MemcachedProcess& server) {
    auto config =
        ClusterConfig::parse_uri("memcached://127.0.0.1:" + std::to_string(server.port()));
    config->pool_min = 0;
    config->pool_max = 1;
    return *config;
  }

  test::Lent<test::MemcachedProcess> server_;
  ClusterConfig config_;
  std::shared_ptr<const cluster::Topology> topology_;
  test::NoEvents events_;

 protected:
  using Paths = client::runtime::ExtraConnections;

  LentPaths() : config_(configure(*server_)), topology_(cluster::Topology::make(config_)) {
    paths.emplace(2, 1, [this] {
      auto path = client::runtime::Path::open(
          config_, topology_, std::make_unique<protocol::memcached::MemcachedSessions>(config_), {},
          events_, Random(1).fork());
      if (!path) return std::unique_ptr<client::runtime::Path>();
      (*path)->lane().start();
      return std::move(*path);
    });
  }
  // Waits for a path that is connected.
  Paths::Lease borrow() {
    const auto end = Fleet::Clock::now() + 20s;
    while (Fleet::Clock::now() < end) {
      if (auto lease = paths->borrow({servers, 1}, read_monotonic())) return lease;
      std::this_thread::yield();
    }
    throw std::runtime_error("no path to borrow");
  }
  // Runs `work` on another thread, from start to end.
  template <class Work>
  static void elsewhere(const Work& work) {
    std::thread(work).join();
  }

  const std::array<Paths::Server, 1> servers{};
  std::optional<Paths> paths;  // last, because it uses the others until its end
};

TEST_F(LentPaths, AThreadIsLentThePathThatItHadLast) {
  auto lease = std::make_unique<Paths::Lease>(borrow());
  client::runtime::Path* const mine = &**lease;
  elsewhere([&] {
    auto other = std::make_unique<Paths::Lease>(borrow());
    EXPECT_NE(&**other, mine);
    lease.reset();  // so that the other one is returned last
    other.reset();
  });
  EXPECT_EQ(paths->lent(), 0u);
  const Paths::Lease again = borrow();
  EXPECT_EQ(&*again, mine);
  EXPECT_EQ(paths->lent(), 1u);
}

TEST_F(LentPaths, OneThatIsNotTrustedIsNotLentAgain) {
  {
    const Paths::Lease lease = borrow();
    lease.distrust({&servers[0].node, 1});
  }
  EXPECT_FALSE(paths->borrow({servers, 1}, read_monotonic()));
}

TEST(MemcachedExtraConnections, AForkedChildIsRefusedAndTheParentGoesOn) {
  Fleet fleet(1);
  Client client = test::open("memcached://" + fleet.node(0));
  Readers readers(client, fleet, 4);
  const auto end = Fleet::Clock::now() + 20s;
  while (client.stats()[0].connections < 3) ASSERT_LT(Fleet::Clock::now(), end);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto got = client.get_many(fleet.keys);
    const bool refused_as_forked = !got[0].result && got[0].result.error().reason == Reason::forked;
    {
      const Client dying = std::move(client);
    }
    _exit(refused_as_forked ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  readers.wait_for(200);
  readers.end();
  EXPECT_EQ(client.stats()[0].connections_lost, 0u);
}

}  // namespace
}  // namespace sheaf
#endif
