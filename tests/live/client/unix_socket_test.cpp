// Real servers on Unix sockets: memcached, redis-server and mosquitto.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include <sheaf/client.h>
#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"
#if defined(SHEAF_TEST_BROKERS)
#include "tests/support/broker_process.h"
#endif
#if defined(SHEAF_TEST_MEMCACHED_SERVERS)
#include "tests/support/memcached_process.h"
#endif
#if defined(SHEAF_TEST_REDIS_SERVERS)
#include "tests/support/redis_process.h"
#endif

namespace sheaf {
namespace {

using namespace std::chrono_literals;

#if defined(SHEAF_TEST_BROKERS) || defined(SHEAF_TEST_REDIS_SERVERS)
// A path that only this test uses.
std::string path_of(const std::string& server) {
  const std::string name = "sheaf-" + server + "-" + std::to_string(::getpid()) + ".sock";
  return (std::filesystem::temp_directory_path() / name).string();
}
#endif

// Checks that values, batches and a lock work, and that the statistics name the path.
void expect_everything_works(const std::string& uri, const std::string& path) {
  Client client = test::open(uri);
  ASSERT_TRUE(client.set("unix/a", "1"));
  const std::string_view keys[] = {"unix/a", "unix/b"};
  const auto many = client.get_many(keys);
  ASSERT_EQ(many.size(), 2u);
  ASSERT_TRUE(many[0].result) << many[0].result.error().message();
  EXPECT_TRUE(*many[0].result);
  EXPECT_EQ(client.stats().front().node, path);
  EXPECT_EQ(client.locate("unix/a")->node, path);
  Locker locker(client);
  EXPECT_TRUE(locker.lock("unix/lock", {.wait = 5s}));
}

#if defined(SHEAF_TEST_MEMCACHED_SERVERS)
test::MemcachedOptions on_a_path() {
  test::MemcachedOptions options;
  options.on_a_path = true;
  return options;
}

TEST(UnixSockets, ServeAClientOfMemcached) {
  test::MemcachedProcess server(on_a_path());
  expect_everything_works("memcached://" + server.path(), server.path());
}

TEST(UnixSockets, AServerThatIsKilledIsDownAndComesBack) {
  test::MemcachedProcess server(on_a_path());
  Client client = test::open("memcached://" + server.path());
  ASSERT_TRUE(client.set("unix/a", "1"));
  server.kill();
  const auto lost = client.get("unix/a");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().node, server.path());
  server.restart();
  // The client probes in the background if the server is back.
  const auto until = std::chrono::steady_clock::now() + 60s;
  Result<GetResult> got = client.get("unix/a");
  while (!got && std::chrono::steady_clock::now() < until) got = client.get("unix/a");
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_FALSE(*got);
}
#endif

#if defined(SHEAF_TEST_REDIS_SERVERS)
TEST(UnixSockets, ServeAClientOfRedis) {
  test::RedisOptions options;
  const std::string path = path_of("redis");
  options.lines = {"unixsocket " + path, "unixsocketperm 700"};
  const test::RedisProcess server(options);
  expect_everything_works("redis://" + path + "?routing=ring", path);
}
#endif

#if defined(SHEAF_TEST_BROKERS)
TEST(UnixSockets, ServeAClientOfABroker) {
  const std::string path = path_of("broker");
  test::BrokerOptions options;
  options.extra = "listener 0 " + path + "\n";
  const test::BrokerProcess broker(options);
  expect_everything_works("mqtt://" + path, path);
  std::filesystem::remove(path);
}
#endif

}  // namespace
}  // namespace sheaf
