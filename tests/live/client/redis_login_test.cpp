// A Redis server that refuses the log-in.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <sheaf/client.h>

#include "tests/support/lent.h"
#include "tests/support/printed_log.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

TEST(RedisLogin, AWrongPasswordEndsCallsAtOnceWithTheReason) {
  const Lent<RedisProcess> redis;
  RespConnection admin(redis->port());
  ASSERT_EQ(admin.text({"CONFIG", "SET", "requirepass", "s3cret"}), "+OK");
  const std::string server = "127.0.0.1:" + std::to_string(redis->port());
  for (const std::string wrong : {"redis://:hunter2@", "redis://nobody:s3cret@", "redis://"}) {
    auto client = Client::open(wrong + server, {.log = printed_log()}).value();
    for (int i = 0; i < 3; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      const auto got = client.get("key", {.timeout = 60s});
      ASSERT_FALSE(got);
      EXPECT_EQ(got.error().outcome, Outcome::not_sent);
      EXPECT_EQ(got.error().reason, Reason::authentication) << got.error().message();
      EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
    }
    const auto reply = client.execute(Command({"PING"}), {.timeout = 60s});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().reason, Reason::authentication) << reply.error().message();
  }
  auto client = Client::open("redis://:s3cret@" + server).value();
  EXPECT_TRUE(client.get("key", {.timeout = 60s}));
  EXPECT_EQ(admin.text({"CONFIG", "SET", "requirepass", ""}), "+OK") << "so it can be lent again";
}

}  // namespace
}  // namespace sheaf::test

#endif
