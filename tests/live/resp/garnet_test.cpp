// The same with real garnet-servers, if they are installed. A server takes a second to start.

#include <gtest/gtest.h>

#include <string>

#include "protocol/resp/wire/server_error.h"
#include "tests/live/resp/all_slots.h"
#include "tests/support/garnet_process.h"
#include "tests/support/logins.h"
#include "tests/support/resp_cluster.h"

namespace sheaf::test {
namespace {

using protocol::resp::ErrorKind;
using protocol::resp::Handshake;
using protocol::resp::HandshakeOptions;
using protocol::resp::hash_slot;
using protocol::resp::ServerError;
using protocol::resp::Software;

TEST(GarnetServer, TheHandshakeAndItsErrors) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  RespProcessOptions options;
  options.password = "s3cret";
  const GarnetProcess server(options);
  const auto greeted = [&](const HandshakeOptions& as) {
    RespConnection connection(server.port());
    const Handshake handshake = connection.greet(as);
    if (handshake.state() != Handshake::State::ready) return handshake.failure().text;
    EXPECT_EQ(handshake.server().software, Software::garnet);
    EXPECT_EQ(handshake.server().protocol, 3);
    EXPECT_TRUE(handshake.server().version);
    return connection.text({"SET", "k", "v"});
  };
  EXPECT_EQ(greeted({.login = test::login_slot("", "s3cret")}), "+OK");
  EXPECT_EQ(greeted({.login = test::login_slot("", "wrong")}),
            "the server refused AUTH: WRONGPASS Invalid password");
  // Garnet answers HELLO before a login. Its next reply shows that one is needed.
  EXPECT_EQ(greeted({}), "the server refused CLIENT SETINFO: NOAUTH Authentication required.");

  RespConnection connection(server.port());
  ASSERT_EQ(connection.text({"AUTH", "s3cret"}), "+OK");
  const auto kind = [&](const RespConnection::Words& command) {
    return ServerError::parse(connection.ask(command).root().text()).kind;
  };
  EXPECT_EQ(connection.text({"RPUSH", "list", "v"}), "1");
  EXPECT_EQ(kind({"GET", "list"}), ErrorKind::wrong_type);
  EXPECT_EQ(kind({"FOO"}), ErrorKind::unknown_command);
  EXPECT_EQ(kind({"SET", "k"}), ErrorKind::wrong_arguments);
  EXPECT_EQ(kind({"INCR", "k"}), ErrorKind::bad_number);
  EXPECT_EQ(kind({"SETIFMATCH", "k", "v", "-1"}), ErrorKind::bad_etag);
  EXPECT_EQ(kind({"EVAL", "return 1", "0"}), ErrorKind::scripts_disabled);
  EXPECT_EQ(kind({"CLUSTER", "NODES"}), ErrorKind::cluster_disabled);
  EXPECT_EQ(kind({"HELLO", "9"}), ErrorKind::no_proto);
}

TEST(GarnetCluster, EverySlotWhereTheViewsSayThroughAMigrationAFailoverAndANewAddress) {
  if (!is_installed(RespSoftware::garnet)) GTEST_SKIP() << not_installed(RespSoftware::garnet);
  RespClusterOptions options;
  options.software = RespSoftware::garnet;
  options.primaries = 2;
  options.replicas = 1;
  RespCluster cluster(options);
  expect_views_are_true(cluster);

  const std::uint16_t slot = hash_slot("{foo}");
  ASSERT_EQ(cluster.owner(slot), 1u);
  const std::string there = "127.0.0.1:" + std::to_string(cluster.server(0).port());
  EXPECT_EQ(cluster.text(1, {"SET", "{foo}1", "v"}), "+OK");
  EXPECT_EQ(cluster.text(1, {"SET", "{foo}2", "v"}), "+OK");
  cluster.begin_migration(slot, 0);
  EXPECT_EQ(cluster.move_keys(slot, 0, 1), 1u);
  expect_views_are_true(cluster, {slot});
  EXPECT_EQ(cluster.text(1, {"GET", "{foo}new"}), "-ASK 12182 " + there);
  EXPECT_EQ(cluster.text(1, {"MGET", "{foo}1", "{foo}2"}),
            "-TRYAGAIN Multiple keys request during rehashing of slot");
  while (cluster.move_keys(slot, 0) > 0) {
  }
  cluster.end_migration(slot, 0);
  cluster.wait_until_settled();
  EXPECT_EQ(cluster.owner(slot), 0u);
  expect_views_are_true(cluster);
  EXPECT_EQ(cluster.text(0, {"GET", "{foo}1"}), "\"v\"");
  EXPECT_EQ(cluster.text(0, {"MGET", "{foo}1", "{bar}"}),
            "-CROSSSLOT Keys in request do not hash to the same slot");

  RespConnection connection = cluster.connect(0);
  expect_keys_in_their_slots(connection, 1'000);

  cluster.fail_over(2, "FORCE");  // server 2 replicates server 0
  EXPECT_EQ(cluster.owner(slot), 2u);
  expect_views_are_true(cluster);

  cluster.kill(1);
  cluster.restart_elsewhere(1);
  cluster.wait_until_settled();
  expect_views_are_true(cluster);
}

}  // namespace
}  // namespace sheaf::test
