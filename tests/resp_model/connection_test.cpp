// A connection to a model node: commands in pieces, the login, the greeting, and the faults of a
// server.

#include <gtest/gtest.h>

#include "protocol/resp/wire/server_error.h"
#include "tests/protocol/resp/live_replies.h"
#include "tests/resp_model/talk.h"

namespace sheaf::test::resp_model {
namespace {

std::string receive(ModelConnection& connection, std::string_view bytes, std::size_t step) {
  std::string replies;
  while (!bytes.empty()) {
    replies += connection.receive(bytes.substr(0, step), 1h);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return replies;
}

TEST(ModelConnection, CommandsComeInPiecesOfAnySize) {
  const std::string bytes = command_bytes("SET k some-value") + command_bytes("GET k") +
                            "*0\r\n*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n" + command_bytes("PING");
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    ModelCluster cluster(addresses(1), 1);
    ModelConnection connection(cluster, 0);
    EXPECT_EQ(receive(connection, bytes, step), "+OK\r\n$10\r\nsome-value\r\n$-1\r\n+PONG\r\n");
  }
}

TEST(ModelConnection, WhatIsNoCommandIsAnsweredAndThenItCloses) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"*1\r\n+PING\r\n", "-ERR Protocol error: expected '$', got '+'\r\n"},
      {"*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
      {"*1\r\n$x\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
  };
  for (const auto& [bytes, reply] : cases) {
    ModelCluster cluster(addresses(1), 1);
    ModelConnection connection(cluster, 0);
    EXPECT_EQ(connection.receive(bytes, 1h), reply);
    EXPECT_TRUE(connection.closed());
    EXPECT_EQ(connection.receive(command_bytes("PING"), 1h), "");
  }
}

// The live replies are from standalone servers; only the number of the connection differs.
TEST(ModelConnection, HelloIsThatOfALiveServer) {
  const auto as_live = [](std::string_view live, std::string_view id) {
    std::string text(live);
    const auto replace = [&text](std::string_view from, std::string_view to) {
      const std::size_t at = text.find(from);
      if (at != text.npos) text.replace(at, from.size(), to);
    };
    replace("$10\r\nstandalone", "$7\r\ncluster");
    replace(id, "id\r\n:1\r\n");
    return text;
  };
  using namespace protocol::resp;
  EXPECT_EQ(Talk(1).to(0, "HELLO"), as_live(live::redis_hello, "id\r\n:5\r\n"));
  EXPECT_EQ(Talk(1).to(0, "HELLO 2"), as_live(live::redis_hello, "id\r\n:5\r\n"));
  EXPECT_EQ(Talk(1).to(0, "HELLO 3"), as_live(live::redis_hello_resp3, "id\r\n:6\r\n"));
  EXPECT_EQ(Talk(1, {.dialect = garnet()}).to(0, "HELLO 3"),
            as_live(live::garnet_hello_resp3, "id\r\n:24\r\n"));
  Talk talk(1);
  EXPECT_EQ(talk.to(0, "HELLO 4"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(talk.to(0, "HELLO x"), "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(talk.to(0, "HELLO 3 AUTH u p"),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(talk.to(0, "CLIENT SETINFO LIB-NAME x"),
            "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.\r\n");
}

TEST(ModelConnection, AServerBeforeRedis6HasNoHello) {
  ClusterOptions options;
  options.dialect.version = "5.0.7";
  options.dialect.has_hello = false;
  Talk talk(1, options);
  EXPECT_EQ(talk.to(0, "HELLO 3"),
            "-ERR unknown command 'HELLO', with args beginning with: '3' \r\n");
}

TEST(ModelConnection, NothingIsCarriedOutBeforeTheLoginThatIsWanted) {
  Talk talk(1, {.password = "secret"});
  EXPECT_EQ(talk.to(0, "GET k"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(talk.to(0, "HELLO 3").substr(0, 20), "-NOAUTH HELLO must b");
  EXPECT_EQ(talk.to(0, "AUTH wrong"),
            "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(talk.to(0, "AUTH client-3 secret"), "+OK\r\n");
  EXPECT_EQ(talk.to(0, "SET k v"), "+OK\r\n");
  talk.to(0, "CLUSTER NODES");
  ASSERT_EQ(talk.cluster.log().executions().size(), 1u);
  EXPECT_EQ(talk.cluster.log().executions()[0].client, "client-3");
  EXPECT_EQ(talk.cluster.log().fetches_by("client-3"), 1u);
  EXPECT_EQ(talk.cluster.log().fetches_by("default"), 0u);
}

TEST(ModelConnection, TheLogShowsWhatWasCarriedOutTwice) {
  Talk talk(2);
  const std::string key = talk.key_of(0);
  talk.to(0, "APPEND " + key + " one");
  talk.to(0, "APPEND " + key + " two");
  talk.to(1, "APPEND " + key + " two");  // MOVED
  talk.to(0, "GET " + key);
  talk.to(0, "GET " + key);
  EXPECT_TRUE(talk.cluster.log().repeats().empty());
  EXPECT_EQ(talk.cluster.log().errors("MOVED"), 1u);
  talk.to(0, "APPEND " + key + " one");
  ASSERT_EQ(talk.cluster.log().repeats().size(), 1u);
  EXPECT_EQ(talk.cluster.log().repeats("APPEND")[0].words[2], "one");
  EXPECT_TRUE(talk.cluster.log().repeats("SET").empty());
  EXPECT_EQ(talk.cluster.log().times({"APPEND", key}), 3u);
  EXPECT_EQ(talk.cluster.log().times({"APPEND", key, "one"}), 2u);
}

TEST(ModelConnection, AStoppedNodeIsSilentAndGoesOnWhereItWas) {
  Talk talk(1);
  talk.to(0, "PING");
  talk.cluster.stop(0);
  EXPECT_EQ(talk.to(0, "SET k v"), "");
  EXPECT_EQ(talk.to(0, "GET k"), "");
  EXPECT_TRUE(talk.cluster.log().executions().empty());
  talk.cluster.go_on(0, talk.now);
  EXPECT_EQ(talk.connection(0).receive({}, talk.now), "+OK\r\n$1\r\nv\r\n");
}

TEST(ModelConnection, GarbageTakesThePlaceOfRepliesToWhatWasCarriedOut) {
  Talk talk(1);
  talk.to(0, "HELLO 3");
  talk.cluster.node(0).faults.garbage_replies = 1;
  EXPECT_EQ(talk.to(0, "PING"), "+PONG\r\n");
  EXPECT_EQ(talk.to(0, "SET k v"), std::string(64, '\0'));
  EXPECT_EQ(talk.to(0, "GET k"), "$1\r\nv\r\n");
}

}  // namespace
}  // namespace sheaf::test::resp_model
