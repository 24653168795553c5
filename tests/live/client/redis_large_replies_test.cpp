// Replies to pass-through commands that exceed the limit, on a connection that others write on.
// They fail only that command.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

constexpr CommandOptions very_patient{.timeout = 60s};

class RedisLargeReplies : public testing::Test {
 protected:
  // One connection, which all callers share.
  RedisLargeReplies()
      : client(test::open("redis://127.0.0.1:" + std::to_string(server->port()) +
                          "?routing=ring&pool_max=1&extra_connections=0")) {}
  ~RedisLargeReplies() override { writer.request_stop(); }

  // Makes a list of `items` items, without using the client.
  void fill(const std::string& key, std::size_t items) {
    test::RespConnection connection(server->port());
    std::vector<std::string> words{"RPUSH", key};
    while (items > 0) {
      words.resize(2);
      for (; items > 0 && words.size() < 100'000; --items) words.push_back(std::to_string(items));
      ASSERT_FALSE(connection.ask(words).root().is_error());
    }
  }

  // Stops the other thread, which writes until then. It must have written, and no write may have
  // failed.
  void expect_that_no_write_was_lost() {
    writer.request_stop();
    writer.join();
    EXPECT_GT(written, 0);
    EXPECT_EQ(failures, std::vector<std::string>());
    EXPECT_EQ(client.stats()[0].connects, 1u) << "the connection has ended";
  }

  const test::Lent<test::RedisProcess> server;
  Client client;
  int written = 0;                    // by the writer
  std::vector<std::string> failures;  // the writer's
  std::jthread writer{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto result = client.set("mine", std::to_string(written), {.timeout = 60s});
      if (!result) failures.push_back(result.error().message());
      if (result) ++written;
    }
  }};
};

TEST_F(RedisLargeReplies, AListThatIsReadWholeIsRight) {
  fill("list", 400'000);
  const auto all = client.execute({"LRANGE", "list", "0", "-1"}, very_patient);
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->size(), 400'000u);
  EXPECT_EQ((*all)[0].text(), "400000");
  EXPECT_EQ((*all)[399'999].text(), "1");
  expect_that_no_write_was_lost();
}

TEST_F(RedisLargeReplies, AListThatIsTooLongEndsOnlyTheCommandThatReadsIt) {
  fill("list", 1'100'000);
  for (int i = 0; i < 3; ++i) {
    const auto all = client.execute({"LRANGE", "list", "0", "-1"}, very_patient);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().outcome, Outcome::refused) << all.error().message();
    EXPECT_EQ(all.error().reason, Reason::too_large);
  }
  EXPECT_EQ(client.execute({"LLEN", "list"}, very_patient)->number(), 1'100'000);
  expect_that_no_write_was_lost();
}

TEST_F(RedisLargeReplies, ACommandThatWritesIsUnknownAndWasCarriedOut) {
  fill("list", 1'100'000);
  const auto all = client.execute({"LPOP", "list", "1100000"}, very_patient);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().outcome, Outcome::unknown) << all.error().message();
  EXPECT_EQ(all.error().reason, Reason::too_large);
  EXPECT_EQ(client.execute({"LLEN", "list"}, very_patient)->number(), 0);
  expect_that_no_write_was_lost();
}

TEST_F(RedisLargeReplies, OneLongTextAmongManyIsEnough) {
  test::RespConnection connection(server->port());
  connection.ask({"RPUSH", "list", "a", std::string(17u << 20, 'v'), "b"});
  const auto all = client.execute({"LRANGE", "list", "0", "-1"}, very_patient);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().outcome, Outcome::refused) << all.error().message();
  EXPECT_EQ(all.error().reason, Reason::too_large);
  expect_that_no_write_was_lost();
}

}  // namespace
}  // namespace sheaf

#endif
