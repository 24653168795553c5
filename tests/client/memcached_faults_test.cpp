// Real memcached servers that stop, die, come back empty, are full or want a log-in.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <sheaf/client.h>

#include "tests/client/endpoints.h"

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::MemcachedOptions;
using test::MemcachedProcess;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto recovery_limit = 3s;  // the machine, not the protocol, sets the pace
#else
constexpr auto recovery_limit = 1700ms;  // 1.2 s by design, and room for a busy machine
#endif

std::string address(const MemcachedProcess& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

MemcachedOptions small() {
  MemcachedOptions options;
  options.arguments = {"-t", "1", "-c", "64", "-o", "maxconns_fast"};
  return options;
}

// Servers, the client of them, and keys that are their own values.
class Fleet {
 public:
  explicit Fleet(unsigned size, const std::string& options = "") {
    std::string uri = "memcached://";
    for (unsigned i = 0; i < size; ++i) {
      servers.push_back(std::make_unique<MemcachedProcess>(small()));
      uri += (i > 0 ? "," : "") + node(i);
    }
    client.emplace(test::open(uri + options));
    for (int i = 0; i < 800; ++i) names.push_back("fault/" + std::to_string(i));
    keys.assign(names.begin(), names.end());
    set_all();
  }
  std::string node(unsigned index) const { return address(*servers[index]); }
  std::string owner(std::string_view key) const { return client->locate(key)->node; }
  std::string key_on(unsigned index) const {
    for (const std::string& name : names) {
      if (owner(name) == node(index)) return name;
    }
    return {};
  }
  NodeStats stats(unsigned index) const { return client->stats()[index]; }

  // How many keys could not be set.
  std::size_t set_all() {
    std::vector<SetItem> items;
    for (const std::string& name : names) items.push_back({name, name});
    std::size_t failed = 0;
    for (const auto& [key, result] : client->set_many(items, {.timeout = 5s})) failed += !result;
    return failed;
  }
  // Time from now to the first answer to a steady caller.
  Clock::duration time_to_success(unsigned index) {
    const std::string key = key_on(index);
    const auto start = Clock::now();
    while (Clock::now() - start < 20s) {
      if (client->get(key, {.timeout = 500ms})) return Clock::now() - start;
      std::this_thread::yield();
    }
    return 20s;
  }
  void wait_until_down(unsigned index) {
    const std::string key = key_on(index);
    const auto end = Clock::now() + 20s;
    while (stats(index).health != NodeHealth::down) {
      ASSERT_LT(Clock::now(), end);
      (void)client->get(key, {.timeout = 100ms});
    }
  }

  std::vector<std::unique_ptr<MemcachedProcess>> servers;
  std::optional<Client> client;
  std::vector<std::string> names;
  std::vector<std::string_view> keys;
};

// Threads that read and write a fleet's keys and judge every answer: only keys of `victim` may
// fail, and only they may be absent.
class Load {
 public:
  Load(Fleet& fleet, unsigned victim) : fleet_(fleet), victim_(fleet.node(victim)) {
    for (unsigned t = 0; t < 4; ++t) threads_.emplace_back([this, t] { run(t); });
  }
  ~Load() { end(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  void end() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void wait_for(std::uint64_t more) const {
    const std::uint64_t wanted = done + more;
    while (done < wanted) std::this_thread::yield();
  }

  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint64_t> wrong = 0;   // another key's value
  std::atomic<std::uint64_t> others = 0;  // failed or absent, but not the victim's

 private:
  void run(unsigned first) {
    for (std::size_t i = first; !over_; i += 4) {
      const std::string& key = fleet_.names[i % fleet_.names.size()];
      bool failed = false;
      if (i / fleet_.names.size() % 4 == 3) {
        failed = !fleet_.client->set(key, key, {.timeout = 300ms});
      } else {
        const auto got = fleet_.client->get(key, {.timeout = 300ms});
        failed = !got || !*got;
        wrong += got && *got && (*got)->data != key;
      }
      others += failed && fleet_.owner(key) != victim_;
      ++done;
    }
  }
  Fleet& fleet_;
  std::string victim_;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

TEST(MemcachedFaults, OneOfEightIsKilledUnderLoadAndComesBackEmpty) {
  Fleet fleet(8);
  Load load(fleet, 3);
  load.wait_for(500);
  fleet.servers[3]->kill();
  fleet.wait_until_down(3);
  load.wait_for(500);
  fleet.servers[3]->restart();
  EXPECT_LT(fleet.time_to_success(3), recovery_limit);
  load.wait_for(500);
  load.end();
  EXPECT_EQ(load.wrong, 0u);
  EXPECT_EQ(load.others, 0u);
}

TEST(MemcachedFaults, OneOfEightIsStoppedUnderLoadAndGoesOn) {
  Fleet fleet(8);
  Load load(fleet, 5);
  load.wait_for(500);
  fleet.servers[5]->stop();
  fleet.wait_until_down(5);
  load.wait_for(500);
  fleet.servers[5]->resume();
  EXPECT_LT(fleet.time_to_success(5), recovery_limit);
  load.wait_for(500);
  load.end();
  EXPECT_EQ(load.wrong, 0u);
  EXPECT_EQ(load.others, 0u);
}

TEST(MemcachedFaults, NoUserRequestIsSpentOnProbing) {
  Fleet fleet(3);
  fleet.servers[1]->stop();
  fleet.wait_until_down(1);
  const std::uint64_t sent = fleet.stats(1).unknown;
  const std::uint64_t probes = fleet.stats(1).probes;
  while (fleet.stats(1).probes < probes + 2) {
    const auto got = fleet.client->get(fleet.key_on(1), {.timeout = 5s});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().outcome, Outcome::not_sent);
    EXPECT_EQ(got.error().reason, Reason::node_down);
  }
  EXPECT_EQ(fleet.stats(1).unknown, sent);
  fleet.servers[1]->resume();
  EXPECT_LT(fleet.time_to_success(1), recovery_limit);
}

TEST(MemcachedFaults, OneOfEightIsAtItsConnectionLimit) {
  Fleet fleet(8);
  fleet.client.reset();
  std::vector<Client> crowd;
  while (crowd.size() < 100) {
    crowd.push_back(test::open("memcached://" + fleet.node(2)));
    if (crowd.back().check_nodes(5s).front().error) break;
  }
  ASSERT_LT(crowd.size(), 100u);
  std::string uri = "memcached://";
  for (unsigned i = 0; i < 8; ++i) uri += (i > 0 ? "," : "") + fleet.node(i);
  fleet.client.emplace(test::open(uri));
  const auto refused = fleet.client->get(fleet.key_on(2), {.timeout = 500ms});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("too many open connections"), std::string::npos)
      << refused.error().message();
  Load load(fleet, 2);
  load.wait_for(500);
  crowd.clear();
  EXPECT_LT(fleet.time_to_success(2), recovery_limit);
  load.wait_for(500);
  load.end();
  EXPECT_EQ(load.wrong, 0u);
  EXPECT_EQ(load.others, 0u);
}

TEST(MemcachedFaults, WithRehashAllKeysOfAKilledServerAreServedWithinASecondAndReturnToIt) {
  Fleet fleet(3, "?failover=rehash");
  fleet.servers[1]->kill();
  const auto start = Clock::now();
  while (fleet.set_all() > 0) {
    ASSERT_LT(Clock::now() - start, 5s);
  }
  for (const auto& [key, got] : fleet.client->get_many(fleet.keys, {.timeout = 1s})) {
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_TRUE(got->has_value()) << key;
    EXPECT_EQ((**got).data, key);
  }
  EXPECT_LT(Clock::now() - start, recovery_limit);  // 1 s by design, and room for a busy machine

  fleet.servers[1]->restart();
  Client direct = test::open("memcached://" + fleet.node(1));
  const std::string key = fleet.key_on(1);
  const auto end = Clock::now() + 20s;
  while (!direct.get(key).value().has_value()) {
    ASSERT_LT(Clock::now(), end);
    fleet.client->set(key, key).value();
  }
  EXPECT_EQ(fleet.set_all(), 0u);
  for (const std::string& name : fleet.names) {
    EXPECT_EQ(direct.get(name).value().has_value(), fleet.owner(name) == fleet.node(1)) << name;
  }
}

class LogIns : public testing::TestWithParam<MemcachedOptions::LogIn> {};
INSTANTIATE_TEST_SUITE_P(
    Of, LogIns, testing::Values(MemcachedOptions::LogIn::sasl, MemcachedOptions::LogIn::text),
    [](const auto& test) { return test.param == MemcachedOptions::LogIn::sasl ? "Sasl" : "Text"; });

TEST_P(LogIns, AreFoundOutByTheClientAndAWrongPasswordIsOneClearError) {
  MemcachedOptions options;
  options.log_in = GetParam();
  options.users = {{"cache", "s3cret"}};
  const MemcachedProcess server(options);
  Client good = test::open("memcached://cache:s3cret@" + address(server));
  ASSERT_TRUE(good.set("k", "v", {.timeout = 10s}).value().stored);
  EXPECT_EQ(good.get("k").value()->data, "v");
  EXPECT_EQ(good.increment("n", 1, {.initial = 4}).value(), 4u);

  for (const char* wrong : {"cache:blunder@", "nobody:s3cret@", ""}) {
    Client bad = test::open("memcached://" + (wrong + address(server)));
    const auto refused = bad.get("k", {.timeout = 10s});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().outcome, Outcome::not_sent) << wrong;
    EXPECT_EQ(refused.error().reason, Reason::authentication) << refused.error().message();
    EXPECT_EQ(refused.error().node, address(server));
    EXPECT_LT(refused.error().elapsed, 9s) << wrong;  // told, not waited for
    EXPECT_EQ(refused.error().message().find("blunder"), std::string::npos);
  }
}

TEST(Protocols, AServerThatSpeaksOnlyOneIsFoundOut) {
  for (const char* protocol : {"ascii", "binary"}) {
    MemcachedOptions options;
    options.arguments = {"-B", protocol};
    const MemcachedProcess server(options);
    Client client = test::open("memcached://" + address(server));
    const auto stored = client.set("k", "v", {.timeout = 10s});
    ASSERT_TRUE(stored) << protocol << ": " << stored.error().message();
    EXPECT_EQ(client.get("k").value()->data, "v");
    EXPECT_EQ(client.stats().front().connects, 1u);
    EXPECT_EQ(client.stats().front().connect_failures, 0u) << "finding out is no fault";
  }
}

TEST(Protocols, APasswordForAServerThatWantsNoneIsOneClearError) {
  const MemcachedProcess server;
  Client client = test::open("memcached://cache:s3cret@" + address(server));
  const auto refused = client.get("k", {.timeout = 10s});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
  EXPECT_LT(refused.error().elapsed, 9s);
  EXPECT_NE(refused.error().message().find("SASL is off"), std::string::npos)
      << refused.error().message();
}

}  // namespace
}  // namespace sheaf
#endif
