// A Redis server that cannot save its data refuses writes, and answers PING by an error, too. It
// serves reads.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <sheaf/client.h>

#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

// A snapshot cannot take the place of a folder, which is as final as a full disk.
void fail_its_snapshots(const RedisProcess& redis, RespConnection& server) {
  std::filesystem::create_directory(redis.folder() / "snapshot");
  server.ask({"BGSAVE"});
  wait_for_condition("the snapshot has failed", [&] {
    return server.text({"INFO", "persistence"}).find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  });
}

TEST(RedisDiskFull, NewClientsReadAndWritesSayWhy) {
  RedisOptions options;
  options.lines = {"save 3600 1000000", "dbfilename snapshot"};
  const RedisProcess redis(options);
  RespConnection server(redis.port());
  server.ask({"SET", "key", "value"});
  fail_its_snapshots(redis, server);
  ASSERT_TRUE(server.text({"PING"}).starts_with("-MISCONF")) << "the case of this test";

  const std::string uri = "redis://127.0.0.1:" + std::to_string(redis.port());
  for (const std::string query : {"", "?routing=ring"}) {
    auto client = Client::open(uri + query).value();
    const auto got = client.get("key");
    ASSERT_TRUE(got) << query << got.error().message();
    EXPECT_EQ((*got)->data, "value");
    const auto set = client.set("key", "other");
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().outcome, Outcome::refused);
    EXPECT_NE(set.error().text.find("MISCONF"), std::string::npos) << set.error().message();
    for (const NodeReport& node : client.check_nodes()) EXPECT_FALSE(node.error) << node.stats.node;
  }
}

}  // namespace
}  // namespace sheaf::test

#endif
