// Changed logins on real servers that end connections because of them, or whose connections cannot
// change their login.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include <sheaf/client.h>

#include "tests/live/client/shared_logins.h"
#include "tests/support/lent.h"
#include "tests/support/printed_log.h"
#include "tests/support/steady_load.h"
#include "tests/support/wait_for_condition.h"

#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

#ifdef SHEAF_TEST_REDIS_SERVERS

// Redis ends the connections of a deleted user.
TEST(LoginRenewal, AUserOfRedisThatIsDeletedAndMadeAgainIsLetInAgain) {
  const Lent<RedisProcess> server(redis_with_a_login());
  RespConnection admin(server->port());
  ASSERT_EQ(admin.text({"AUTH", "app", "s3cret"}), "+OK");
  ASSERT_EQ(admin.text({"ACL", "SETUSER", "admin", "on", ">admin", "~*", "&*", "+@all"}), "+OK");
  ASSERT_EQ(admin.text({"AUTH", "admin", "admin"}), "+OK");
  auto client = Client::open("redis://app:s3cret@127.0.0.1:" + std::to_string(server->port()) +
                                 "?routing=ring&timeout=10s",
                             {.log = printed_log()})
                    .value();
  ASSERT_TRUE(client.set("k", "v"));
  ASSERT_EQ(admin.text({"ACL", "DELUSER", "app"}), "1");
  wait_for_condition("the refusal", [&] {
    const auto got = client.get("k");
    return !got && got.error().reason == Reason::authentication;
  });
  ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all"}), "+OK");
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
  ASSERT_EQ(admin.text({"AUTH", "app", "s3cret"}), "+OK");
  EXPECT_EQ(admin.text({"ACL", "DELUSER", "admin"}), "1") << "so the server can be lent again";
}

#endif

#ifdef SHEAF_TEST_MEMCACHED_SERVERS

class MemcachedRenewal : public testing::TestWithParam<MemcachedOptions::LogIn> {};

TEST_P(MemcachedRenewal, ConnectionsAreReplacedAndNoCallFails) {
  const Lent<MemcachedProcess> server(memcached_with_logins(GetParam()));
  std::atomic<bool> renewed = false;
  ClientOptions more;
  more.credentials = [&](const CredentialRequest& request) -> Result<Credentials> {
    if (request.need == CredentialNeed::renewal) renewed = true;
    if (renewed) return Credentials{.user = "other", .password = "word"};
    return Credentials{
        .user = "cache", .password = "s3cret", .ends = std::chrono::system_clock::now() + 3s};
  };
  more.log = printed_log();
  auto client = Client::open("memcached://127.0.0.1:" + std::to_string(server->port()) +
                                 "?timeout=30s&pool_min=2&pool_max=2",
                             std::move(more))
                    .value();
  ASSERT_TRUE(client.set("k", "v"));
  SteadyLoad load(client, 2);
  wait_for_condition("the renewal", [&] { return renewed.load(); });
  const auto made = [&] { return client.stats().at(0).connects; };
  wait_for_condition("other connections", [&] { return made() >= 4; });
  const std::uint64_t so_far = load.calls();
  wait_for_condition("calls on them", [&] { return load.calls() > so_far + 100; });
  EXPECT_THAT(load.stop(), testing::IsEmpty());
  EXPECT_EQ(client.stats().at(0).connections_lost, 0u);
}

INSTANTIATE_TEST_SUITE_P(Memcached, MemcachedRenewal,
                         testing::Values(MemcachedOptions::LogIn::sasl,
                                         MemcachedOptions::LogIn::text),
                         [](const auto& each) {
                           return each.param == MemcachedOptions::LogIn::sasl ? "Sasl" : "Text";
                         });

#endif

}  // namespace
}  // namespace sheaf::test
