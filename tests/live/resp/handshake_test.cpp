// The library's handshake with a real redis-server.

#include "protocol/resp/greeting/handshake.h"

#include <gtest/gtest.h>

#include "tests/live/resp/shared_server.h"
#include "tests/support/lent.h"
#include "tests/support/logins.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using protocol::resp::Handshake;
using protocol::resp::HandshakeOptions;
using protocol::resp::Role;
using protocol::resp::ServerFacts;
using protocol::resp::Software;
using State = protocol::resp::Handshake::State;

// `refusal` is the command and the beginning of the server's sentence.
void expect_refused(std::uint16_t port, const HandshakeOptions& options,
                    const std::string& refusal) {
  RespConnection connection(port);
  const Handshake handshake = connection.greet(options);
  EXPECT_EQ(handshake.state(), State::failed);
  EXPECT_EQ(handshake.failure().reason, Reason::authentication);
  EXPECT_TRUE(handshake.failure().text.starts_with("the server refused " + refusal))
      << handshake.failure().text;
  EXPECT_TRUE(handshake.failure().permanent);
}

// Returns the server's facts once the connection is ready, and checks that it then works.
ServerFacts expect_ready(std::uint16_t port, const HandshakeOptions& options = {}) {
  RespConnection connection(port);
  const Handshake handshake = connection.greet(options);
  EXPECT_EQ(handshake.state(), State::ready) << handshake.failure().text;
  EXPECT_EQ(connection.text({"SET", "k", "v"}), "+OK");
  EXPECT_EQ(connection.text({"GET", "k"}), "\"v\"");
  return handshake.server();
}

TEST(RedisHandshake, WithoutALogin) {
  const Lent<RedisProcess> server;
  const ServerFacts facts = expect_ready(server->port());
  EXPECT_EQ(facts.protocol, 3);
  EXPECT_NE(facts.software, Software::unknown);
  EXPECT_TRUE(facts.at_least(facts.software, {7, 0, 0}));
  EXPECT_EQ(facts.role, Role::primary);
  EXPECT_FALSE(facts.cluster);
  expect_refused(server->port(), {.login = test::login_slot("", "hunter2")},
                 "AUTH: ERR AUTH <password> called without");
}

TEST(RedisHandshake, WithAPassword) {
  const Lent<RedisProcess> server;
  RespConnection admin(server->port());
  const Setting password(admin, "requirepass", "s3cret");
  expect_ready(server->port(), {.login = test::login_slot("", "s3cret")});
  expect_ready(server->port(), {.login = test::login_slot("default", "s3cret")});
  expect_refused(server->port(), {.login = test::login_slot("", "other")}, "AUTH: WRONGPASS ");
  expect_refused(server->port(), {.login = test::login_slot("nobody", "s3cret")},
                 "AUTH: WRONGPASS ");
  expect_refused(server->port(), {}, "HELLO: NOAUTH ");
}

TEST(RedisHandshake, WithAUser) {
  const Lent<RedisProcess> server(with_users());
  expect_ready(server->port(), {.login = test::login_slot("app", "s3cret")});
  expect_refused(server->port(), {.login = test::login_slot("", "s3cret")}, "AUTH: WRONGPASS ");
}

// A user's missing right must not fail the connection. Every user may send HELLO.
TEST(RedisHandshake, UsersWithFewRights) {
  const Lent<RedisProcess> server(with_users());
  EXPECT_EQ(expect_ready(server->port(), {.login = test::login_slot("no-ping", "x")}).protocol, 3);
  EXPECT_EQ(expect_ready(server->port(), {.login = test::login_slot("only-keys", "x")}).protocol,
            3);
}

// As before Redis 6: RESP2, and INFO describes the server to users who may send it.
TEST(RedisHandshake, AServerWithoutHello) {
  RedisOptions options;
  options.lines = {"rename-command HELLO \"\"", "user only-keys on nopass ~* -@all +get +set"};
  const RedisProcess server(options);
  const ServerFacts described = expect_ready(server.port());
  EXPECT_EQ(described.protocol, 2);
  EXPECT_NE(described.software, Software::unknown);
  EXPECT_TRUE(described.at_least(described.software, {7, 0, 0}));
  EXPECT_EQ(described.role, Role::primary);
  const ServerFacts unknown =
      expect_ready(server.port(), {.login = test::login_slot("only-keys", "x")});
  EXPECT_EQ(unknown, ServerFacts{});
}

TEST(RedisHandshake, AReplicaOutsideAClusterAllowsReads) {
  const Lent<RedisProcess> primary;
  const Lent<RedisProcess> server;
  RespConnection admin(server->port());
  const Replication replication(admin, primary->port());
  RespConnection connection(server->port());
  const HandshakeOptions readonly{.readonly = true};
  const Handshake handshake = connection.greet(readonly);
  EXPECT_EQ(handshake.state(), State::ready) << handshake.failure().text;
  EXPECT_EQ(handshake.server().role, Role::replica);
}

// A server whose clients must wait for its data is not ready.
TEST(RedisHandshake, AServerThatHasLostItsPrimaryIsNotReady) {
  Lent<RedisProcess> primary;
  const Lent<RedisProcess> server;
  RespConnection watcher(server->port());
  const Setting no_stale_data(watcher, "replica-serve-stale-data", "no");
  const Replication replication(watcher, primary->port());
  primary.to_break().kill();
  wait_for_condition("the replica knows", [&] {
    return watcher.text({"INFO", "replication"}).find("master_link_status:down") !=
           std::string::npos;
  });
  RespConnection connection(server->port());
  const HandshakeOptions nothing;
  const Handshake handshake = connection.greet(nothing);
  EXPECT_EQ(handshake.state(), State::failed);
  EXPECT_FALSE(handshake.failure().permanent);
  EXPECT_TRUE(handshake.failure().text.starts_with("the server refused PING: MASTERDOWN "))
      << handshake.failure().text;
}

}  // namespace
}  // namespace sheaf::test
