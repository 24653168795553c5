// Changes by a client whose user may not run scripts, and sometimes not transactions. Whatever the
// server refuses, nothing is written that the present value does not allow.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/garnet_process.h"
#include "tests/support/lent.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds rights_limit = 30s;

class RedisRights : public testing::Test {
 protected:
  static test::RedisOptions options() {
    test::RedisOptions options;
    options.lines = {"user app on >word ~* +@all -eval"};
    return options;
  }
  Client open(const std::string& more = {}) const {
    return test::open("redis://app:word@127.0.0.1:" + std::to_string(server->port()) +
                      "?routing=ring&pool_max=1" + more);
  }
  // Makes the user again, as the options say, so that the server can be lent again.
  ~RedisRights() override {
    EXPECT_EQ(admin.text({"ACL", "DELUSER", "app"}), "1");
    EXPECT_EQ(admin.text({"ACL", "SETUSER", "app", "on", ">word", "~*", "+@all", "-eval"}), "+OK");
  }
  // Changes what the user may do from now on: "-multi".
  void allow(const std::string& right) {
    ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", right}), "+OK");
  }

  const test::Lent<test::RedisProcess> server{options()};
  test::RespConnection admin{server->port()};
};

// The server refuses MSET as a whole, so nothing was stored, and each key is set alone.
TEST_F(RedisRights, WithoutMsetSetManyStoresAllTheSame) {
  std::vector<std::string> names;
  std::vector<SetItem> items;
  for (int i = 0; i < 300; ++i) names.push_back("many" + std::to_string(i));
  for (const std::string& name : names) items.push_back({name, name});
  for (const std::string right : {"-mset", "+mset"}) {
    allow(right);
    ASSERT_EQ(admin.text({"CONFIG", "RESETSTAT"}), "+OK");
    Client client = open();
    for (int turn = 0; turn < 2; ++turn) {
      for (const auto& [key, set] : client.set_many(items, {.timeout = rights_limit})) {
        ASSERT_TRUE(set) << key << set.error().message();
        ASSERT_TRUE(set->stored);
        const auto got = client.get(key, {.timeout = rights_limit});
        ASSERT_TRUE(got && *got);
        EXPECT_EQ((*got)->data, key);
        EXPECT_EQ((*got)->version, set->version);
      }
    }
    const std::string stats = admin.text({"INFO", "commandstats"});
    const bool carried_out =
        stats.contains("cmdstat_mset:calls=") && !stats.contains("cmdstat_mset:calls=0,");
    EXPECT_EQ(carried_out, right == "+mset") << stats;
  }
}

TEST_F(RedisRights, AKeyThatMayNotBeSetFailsAloneInSetMany) {
  ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", "resetkeys", "~open*"}), "+OK");
  Client client = open();
  const std::vector<SetItem> items{{"open1", "1"}, {"closed", "2"}, {"open2", "3"}};
  const auto results = client.set_many(items, {.timeout = rights_limit});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].result && results[2].result);
  ASSERT_FALSE(results[1].result);
  EXPECT_EQ(results[1].result.error().outcome, Outcome::refused);
  EXPECT_EQ(admin.text({"GET", "open2"}), "\"3\"");
  allow("~*");
}

TEST_F(RedisRights, WithoutMultiNothingIsWritten) {
  allow("-multi");
  Client client = open();
  admin.ask({"SET", "k", "7"});
  const auto got = client.get("k", {.timeout = rights_limit});
  ASSERT_TRUE(got && *got);
  const SetOptions at_version{
      .condition = SetCondition::if_version, .version = (*got)->version, .timeout = rights_limit};
  const auto swapped = client.set("k", "7", at_version);
  if (test::usual_software() == test::RespSoftware::valkey) {
    EXPECT_TRUE(swapped && swapped->stored) << "SET with IFEQ needs neither script nor transaction";
  } else {
    ASSERT_FALSE(swapped);
    EXPECT_EQ(swapped.error().outcome, Outcome::refused) << swapped.error().message();
    EXPECT_NE(swapped.error().text.find("NOPERM"), std::string::npos) << swapped.error().text;
  }
  const auto counted = client.increment("k", 1, {.timeout = rights_limit});
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().outcome, Outcome::refused) << counted.error().message();
  EXPECT_EQ(admin.text({"GET", "k"}), "\"7\"");
  EXPECT_EQ(client.stats()[0].connects, 1u) << "the connection has ended";

  allow("+multi");
  const auto then = client.increment("k", 1, {.timeout = rights_limit});
  ASSERT_TRUE(then) << then.error().message();
  EXPECT_EQ(then->value(), 8u);
}

// By script and by transaction.
TEST_F(RedisRights, WithAndWithoutScriptsAChangeOfAValueKeepsItsTimeToLive) {
  for (const std::string scripts : {"+eval", "-eval"}) {
    SCOPED_TRACE(scripts);
    allow(scripts);
    Client client = open();
    const EditOptions edit{.timeout = rights_limit};
    const auto expect_life = [&](std::string_view key, const std::string& value) {
      EXPECT_EQ(admin.text({"GET", key}), "\"" + value + "\"");
      const std::int64_t left = admin.ask({"PTTL", key}).root().number().value_or(0);
      EXPECT_GT(left, 1'000'000) << key << " lives for ever, or not at all";
    };
    for (const char* key : {"text", "number", "low"}) {
      const SetOptions hours{.ttl = 2h, .timeout = rights_limit};
      ASSERT_TRUE(client.set(key, "7", hours));
    }
    EXPECT_TRUE(client.prepend("text", "<", edit).value());
    expect_life("text", "<7");
    EXPECT_TRUE(client.append("text", ">", edit).value());
    expect_life("text", "<7>");
    EXPECT_TRUE(client.increment("number", 3, {.timeout = rights_limit}));
    expect_life("number", "10");
    EXPECT_TRUE(client.decrement("low", 9, {.timeout = rights_limit}));
    expect_life("low", "0");
  }
}

TEST_F(RedisRights, WithoutOneRightOfATransactionNothingIsWrittenAndOthersGoOn) {
  for (const std::string right : {"watch", "multi", "exec", "set"}) {
    SCOPED_TRACE(right);
    allow("-" + right);
    Client client = open();
    admin.ask({"SET", "k", "7"});
    for (int i = 0; i < 3; ++i) {
      const auto counted = client.increment("k", 1, {.timeout = rights_limit});
      ASSERT_FALSE(counted);
      EXPECT_EQ(counted.error().outcome, Outcome::refused) << counted.error().message();
      EXPECT_TRUE(client.get("k", {.timeout = rights_limit}));
      EXPECT_TRUE(client.remove("other", {.timeout = rights_limit}));
    }
    EXPECT_EQ(admin.text({"GET", "k"}), "\"7\"");
    EXPECT_EQ(client.stats()[0].connects, 1u) << "the connection has ended";
    allow("+" + right);
  }
}

// Every reported count is there, and nothing else writes.
TEST_F(RedisRights, NoCountIsLostWhileTheRightsComeAndGo) {
  admin.ask({"SET", "counter", "0"});
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::mutex mutex;
  std::vector<std::string> others;
  std::atomic<std::uint64_t> read = 0;
  std::atomic<bool> over = false;
  {
    std::vector<Client> clients;
    for (int i = 0; i < 2; ++i) clients.push_back(open());
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        Client& client = clients[static_cast<std::size_t>(i) % 2];
        while (!over) {
          const auto counted = client.increment("counter", 1, {.timeout = rights_limit});
          if (counted) {
            ++done;
          } else if (counted.error().outcome == Outcome::refused) {
            ++refused;
          } else {
            const std::lock_guard lock(mutex);
            others.push_back(counted.error().message());
          }
          read += client.get("counter", {.timeout = rights_limit}) ? 1 : 0;
        }
      });
    }
    while (done < 2'000 || refused < 200) {
      for (const char* right : {"-multi", "+multi", "-watch", "+watch", "-exec", "+exec"}) {
        allow(right);
      }
    }
    over = true;
  }
  EXPECT_EQ(others, std::vector<std::string>());
  EXPECT_GE(read, done.load());
  EXPECT_EQ(admin.text({"GET", "counter"}), "\"" + std::to_string(done) + "\"");
}

// Garnet leaves a transaction open if its EXEC is refused. Later commands on that connection must
// not be taken for executed.
TEST(GarnetRights, NothingIsWrittenWithoutOneAndNothingIsReportedAsDoneThatIsNot) {
  if (!test::is_installed(test::RespSoftware::garnet)) {
    GTEST_SKIP() << test::not_installed(test::RespSoftware::garnet);
  }
  test::RespProcessOptions options;
  options.user = "admin";
  options.password = "word";
  const test::GarnetProcess server(options);
  test::RespConnection admin(server.port());
  ASSERT_EQ(admin.text({"AUTH", "admin", "word"}), "+OK");
  ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", "on", ">word", "~*", "+@all"}), "+OK");
  for (const std::string right : {"watch", "multi", "exec", "set"}) {
    SCOPED_TRACE(right);
    ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", "-" + right}), "+OK");
    Client client = test::open("redis://app:word@127.0.0.1:" + std::to_string(server.port()) +
                               "?routing=ring&pool_max=1");
    admin.ask({"SET", "k", "7"});
    admin.ask({"DEL", "list"});
    std::int64_t pushed = 0;
    std::int64_t doubtful = 0;
    std::jthread other([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto length = client.execute({"LPUSH", "list", "v"}, {.timeout = rights_limit});
        if (length) {
          EXPECT_TRUE(length->number()) << to_string(length->kind());
          ++pushed;
        } else {
          ++doubtful;
        }
      }
    });
    for (int i = 0; i < 20; ++i) {
      const auto counted = client.increment("k", 1, {.timeout = rights_limit});
      ASSERT_FALSE(counted);
      if (counted.error().outcome != Outcome::refused) {
        EXPECT_EQ(counted.error().outcome, Outcome::not_sent) << counted.error().message();
      }
    }
    other.request_stop();
    other.join();
    EXPECT_EQ(admin.text({"GET", "k"}), "\"7\"");
    const std::int64_t length = admin.ask({"LLEN", "list"}).root().number().value_or(-1);
    EXPECT_GE(length, pushed);
    EXPECT_LE(length, pushed + doubtful);
    ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", "+" + right}), "+OK");
  }
}

}  // namespace
}  // namespace sheaf

#endif
