// The refusals of a real redis-server, and how they are classified.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/resp/wire/server_error.h"
#include "tests/live/resp/shared_server.h"
#include "tests/support/lent.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using protocol::resp::ErrorKind;
using protocol::resp::Execution;
using protocol::resp::ServerError;
using Words = RespConnection::Words;

// Expects an error reply of this kind that begins with this text.
void expect_error(RespConnection& connection, const Words& command, ErrorKind kind,
                  const std::string& text) {
  const auto reply = connection.ask(command);
  ASSERT_TRUE(reply.root().is_error()) << command.front() << ": " << text;
  const std::string said(reply.root().text());
  EXPECT_TRUE(said.starts_with(text)) << said;
  EXPECT_EQ(ServerError::parse(said).kind, kind) << said;
}

TEST(RedisErrors, OfTheCommandItself) {
  const Lent<RedisProcess> server;
  RespConnection connection(server->port());
  connection.ask({"SET", "text", "v"});
  connection.ask({"RPUSH", "list", "v"});
  const auto expect = [&](const Words& command, ErrorKind kind, const std::string& text) {
    expect_error(connection, command, kind, text);
  };
  expect({"GET", "list"}, ErrorKind::wrong_type,
         "WRONGTYPE Operation against a key holding the wrong kind of value");
  expect({"FOO", "bar"}, ErrorKind::unknown_command, "ERR unknown command 'FOO', with args ");
  expect({"CLIENT", "FOO"}, ErrorKind::unknown_subcommand, "ERR unknown subcommand 'FOO'. Try ");
  expect({"GET"}, ErrorKind::wrong_arguments, "ERR wrong number of arguments for 'get' command");
  expect({"SET", "k", "v", "IFFOO", "v"}, ErrorKind::syntax, "ERR syntax error");
  expect({"INCR", "text"}, ErrorKind::bad_number, "ERR value is not an integer or out of range");
  expect({"INCRBYFLOAT", "text", "1"}, ErrorKind::bad_number, "ERR value is not a valid float");
  expect({"SET", "k", "v", "PX", "0"}, ErrorKind::bad_expiry,
         "ERR invalid expire time in 'set' command");
  expect({"EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "0"}, ErrorKind::no_script,
         "NOSCRIPT No matching script.");
  expect({"CLUSTER", "NODES"}, ErrorKind::cluster_disabled,
         "ERR This instance has cluster support disabled");
  expect({"HELLO", "9"}, ErrorKind::no_proto, "NOPROTO ");
  expect({"MULTI", "x"}, ErrorKind::wrong_arguments, "ERR wrong number of arguments for 'multi'");
  EXPECT_EQ(connection.text({"MULTI"}), "+OK");
  expect({"FOO"}, ErrorKind::unknown_command, "ERR unknown command");
  expect({"EXEC"}, ErrorKind::exec_abort,
         "EXECABORT Transaction discarded because of previous errors.");
  const auto dump = connection.ask({"DUMP", "text"});
  const std::string bytes(dump.root().text());
  expect({"RESTORE", "text", "0", bytes}, ErrorKind::busy_key,
         "BUSYKEY Target key name already exists.");
}

TEST(RedisErrors, OfTheLogin) {
  const Lent<RedisProcess> server(with_users());
  RespConnection connection(server->port());
  expect_error(connection, {"GET", "k"}, ErrorKind::no_auth, "NOAUTH Authentication required.");
  expect_error(connection, {"AUTH", "app", "wrong"}, ErrorKind::wrong_pass,
               "WRONGPASS invalid username-password pair or user is disabled.");
  EXPECT_EQ(connection.text({"AUTH", "reader", "word"}), "+OK");
  expect_error(connection, {"SET", "mine:k", "v"}, ErrorKind::no_perm, "NOPERM ");
  expect_error(connection, {"GET", "k"}, ErrorKind::no_perm, "NOPERM ");
  EXPECT_EQ(connection.text({"GET", "mine:k"}), "null");
}

TEST(RedisErrors, OfAServerThatCannotNow) {
  const Lent<RedisProcess> server;
  RespConnection connection(server->port());
  const Setting few_clients(connection, "maxclients", "3");
  const Setting soon_busy(connection, "busy-reply-threshold", "1");
  {
    const Setting full(connection, "maxmemory", "1");
    expect_error(connection, {"SET", "k", "v"}, ErrorKind::out_of_memory,
                 "OOM command not allowed");
  }
  const Setting replicated(connection, "min-replicas-to-write", "1");
  expect_error(connection, {"SET", "k", "v"}, ErrorKind::no_replicas,
               "NOREPLICAS Not enough good replicas to write.");
  auto script = cli::BlockingConnection::open(server->port());
  ASSERT_TRUE(script);
  const Words forever = {"EVAL", "while true do end", "0"};
  const std::vector<protocol::resp::Argument> words(forever.begin(), forever.end());
  protocol::resp::CommandWriter(script->output()).write(words);
  ASSERT_TRUE(script->flush());
  wait_for_condition("the script is slow", [&] {
    return ServerError::parse(connection.ask({"GET", "k"}).root().text()).kind == ErrorKind::busy;
  });
  EXPECT_EQ(connection.text({"SCRIPT", "KILL"}), "+OK");
  const auto killed = script->read();
  ASSERT_TRUE(killed && killed->root().is_error());
  const RespConnection third(server->port());
  RespConnection fourth(server->port());
  expect_error(fourth, {"GET", "k"}, ErrorKind::too_many_clients,
               "ERR max number of clients reached");
}

TEST(RedisErrors, OfAReplica) {
  const Lent<RedisProcess> primary;
  const Lent<RedisProcess> replica;
  RespConnection connection(replica->port());
  const Replication replication(connection, primary->port());
  expect_error(connection, {"SET", "k", "v"}, ErrorKind::read_only,
               "READONLY You can't write against a read only replica.");
}

// A single server that has given up a slot and knows no other servers.
TEST(RedisErrors, OfACluster) {
  RespClusterOptions options;
  options.primaries = 1;
  const LentCluster lent(options);
  RespCluster& cluster = *lent;
  RespConnection connection = cluster.connect(0);
  expect_error(connection, {"MGET", "a", "b"}, ErrorKind::cross_slot,
               "CROSSSLOT Keys in request don't hash to the same slot");
  // Valkey 9 may have several databases in a cluster, but has one by default.
  const auto select = connection.ask({"SELECT", "1"});
  EXPECT_THAT(
      std::string(select.root().text()),
      testing::AnyOf("ERR SELECT is not allowed in cluster mode", "ERR DB index is out of range"));
  EXPECT_EQ(ServerError::parse(select.root().text()).kind, ErrorKind::plain);
  EXPECT_EQ(connection.text({"CLUSTER", "DELSLOTS", "12182"}), "+OK");
  expect_error(connection, {"GET", "foo"}, ErrorKind::cluster_down,
               "CLUSTERDOWN Hash slot not served");
  wait_for_condition("the server notices", [&] {
    return connection.text({"GET", "bar"}) == "-CLUSTERDOWN The cluster is down";
  });
  expect_error(connection, {"GET", "bar"}, ErrorKind::cluster_down,
               "CLUSTERDOWN The cluster is down");
}

}  // namespace
}  // namespace sheaf::test
