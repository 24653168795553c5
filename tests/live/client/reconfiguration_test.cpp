// Real memcached servers that join and leave under load.

#include <gtest/gtest.h>

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// A value names its key and never changes. Whichever server owns the key, any other value is wrong.
TEST(ServersChange, TwentyTimesUnderLoadNoCallFailsAndNoValueIsWrong) {
  std::vector<test::Lent<test::MemcachedProcess>> servers(4);
  ClusterConfig config = ClusterConfig::parse_uri("memcached://127.0.0.1").value();
  config.timeout = 10s;
  std::vector<NodeConfig> all;
  for (const auto& server : servers) all.push_back({"127.0.0.1", server->port(), 1});
  config.nodes = all;
  Client client = std::move(*Client::open(config));

  std::atomic<bool> over = false;
  std::atomic<unsigned> calls = 0;
  std::atomic<unsigned> wrong = 0;
  std::atomic<unsigned> failed = 0;
  const auto load = [&](unsigned number) {
    for (unsigned i = number; !over; i = i * 31 + 7) {
      const std::string key = "key" + std::to_string(i % 997);
      const auto got = client.get(key);
      if (!got) ++failed;
      if (got && *got && (*got)->data != "value of " + key) ++wrong;
      if (got && !*got && !client.set(key, "value of " + key)) ++failed;
      const std::string other = "key" + std::to_string(i % 13);
      const std::string_view keys[] = {key, other};
      for (const auto& [name, one] : client.get_many(keys)) {
        if (!one) ++failed;
        if (one && *one && (*one)->data != "value of " + name) ++wrong;
      }
      ++calls;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i <= 3; ++i) threads.emplace_back(load, i);
  for (unsigned round = 0; round < 20; ++round) {
    const unsigned before = calls;
    while (calls < before + 300) std::this_thread::yield();
    config.nodes.clear();
    for (unsigned i = 0; i < all.size(); ++i) {
      if ((round + i) % 3 != 0 || i == round % 4) config.nodes.push_back(all[i]);
    }
    config.nodes.front().weight = 1 + round % 3;
    const auto changed = client.reconfigure(config);
    ASSERT_TRUE(changed) << changed.error().message();
    EXPECT_EQ(client.stats().size(), config.nodes.size());
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(calls, 6'000u);
}

}  // namespace
}  // namespace sheaf
#endif
