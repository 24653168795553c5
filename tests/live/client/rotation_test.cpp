// Secrets that rotate while clients are at work, on real servers.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include <sheaf/client.h>

#include "tests/live/client/shared_logins.h"
#include "tests/support/lent.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#include "tests/support/secret_folder.h"
#include "tests/support/steady_load.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

constexpr unsigned rotations = 20;

std::string password(unsigned n) { return "password-" + std::to_string(n); }

// The number of login attempts that the server has seen.
unsigned logins(RespConnection& admin) {
  const std::string stats = admin.text({"INFO", "commandstats"});
  const std::size_t at = stats.find("cmdstat_auth:calls=");
  return at == stats.npos ? 0 : static_cast<unsigned>(std::stoul(stats.substr(at + 19)));
}

TEST(Rotation, OfAPasswordFileFailsNoCallOnRedis) {
  RedisOptions options;
  options.user = "app";
  options.password = password(0);
  options.lines = {"user admin on >admin ~* &* +@all"};
  const RedisProcess server(options);
  RespConnection admin(server.port());
  ASSERT_EQ(admin.text({"AUTH", "admin", "admin"}), "+OK");
  SecretFolder secret(password(0));
  auto client =
      Client::open("redis://app@127.0.0.1:" + std::to_string(server.port()) +
                   "?routing=ring&timeout=30s&pool_min=2&pool_max=2&password_file=" + secret.path())
          .value();
  ASSERT_TRUE(client.set("k", "v"));
  SteadyLoad load(client, 2);
  for (unsigned n = 1; n <= rotations; ++n) {
    const unsigned before = logins(admin);
    ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", ">" + password(n)}), "+OK");
    secret.rotate(password(n));
    wait_for_condition("all connections log in again",
                       [&] { return logins(admin) >= before + client.stats().at(0).connections; });
    ASSERT_EQ(admin.text({"ACL", "SETUSER", "app", "<" + password(n - 1)}), "+OK");
  }
  EXPECT_THAT(load.stop(), testing::IsEmpty());
  EXPECT_GT(load.calls(), 1'000u);
  EXPECT_EQ(client.stats().at(0).connections_lost, 0u) << "they have lived through all";
  EXPECT_LE(client.stats().at(0).connects, 4u) << "two for all threads, and one for each";
  EXPECT_EQ(admin.text({"ACL", "LOG"}), "[]") << "nobody was refused";
}

TEST(Rotation, AWrongPasswordInTheFileHealsWithTheRightOne) {
  const Lent<RedisProcess> server(redis_with_a_login());
  SecretFolder secret("wrong");
  auto client = Client::open("redis://app@127.0.0.1:" + std::to_string(server->port()) +
                             "?routing=ring&password_file=" + secret.path())
                    .value();
  wait_for_condition("the refusal", [&] {
    const auto got = client.get("k");
    return !got && got.error().reason == Reason::authentication;
  });
  secret.rotate("s3cret");
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
}

TEST(Rotation, AFileThatGoesAwayLeavesConnectionsAsTheyAre) {
  const Lent<RedisProcess> server(redis_with_a_login());
  std::optional<SecretFolder> secret("s3cret");
  std::atomic<unsigned> warnings = 0;
  ClientOptions more;
  more.log = [&](const LogRecord& record) {
    if (record.operation == "credentials") ++warnings;
  };
  const std::string path = secret->path();
  auto client = Client::open("redis://app@127.0.0.1:" + std::to_string(server->port()) +
                                 "?routing=ring&timeout=30s&password_file=" + path,
                             std::move(more))
                    .value();
  ASSERT_TRUE(client.set("k", "v"));
  secret.reset();
  wait_for_condition("the warning", [&] { return warnings > 0; });
  EXPECT_TRUE(client.get("k"));
  EXPECT_EQ(client.stats().at(0).connects, 1u);
  RespConnection admin(server->port());
  ASSERT_EQ(admin.text({"AUTH", "app", "s3cret"}), "+OK");
  admin.text({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  wait_for_condition("the reason", [&] {
    const auto got = client.get("k", {.timeout = std::chrono::milliseconds(200)});
    return !got && got.error().text.contains("password_file " + path + ": No such file");
  });
}

}  // namespace
}  // namespace sheaf::test

#endif
