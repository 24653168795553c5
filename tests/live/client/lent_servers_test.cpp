// The servers that tests borrow (tests/support/lent.h): the next borrower of one sees nothing of
// what the last one did.

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/wire.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/redis_process.h"
#include "tests/support/resp_connection.h"
#endif

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// Borrows a server that the last borrower had: the test would show nothing on another one.
template <class Process>
Lent<Process> borrow_again(pid_t pid, const typename Process::Options& options = {}) {
  Lent<Process> lent(options);
  EXPECT_EQ(lent->pid(), pid) << "another server";
  return lent;
}

#ifdef SHEAF_TEST_MEMCACHED_SERVERS

std::string uri_of(const MemcachedProcess& server, const std::string& login = {}) {
  return "memcached://" + login + "127.0.0.1:" + std::to_string(server.port());
}

std::string statistics(const MemcachedProcess& server) {
  const auto wire = connect_tcp(server.port());
  wire->send("stats\r\n");
  std::string all;
  while (!all.ends_with("END\r\n")) all += wire->receive(60s).value();
  return all;
}

TEST(LentMemcached, HasNoItemAndNoCountOfTheLastBorrower) {
  pid_t pid = 0;
  {
    const Lent<MemcachedProcess> first;
    pid = first->pid();
    Client client = open(uri_of(*first));
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.set("key" + std::to_string(i), "value"));
    client.get("key1").value();
    EXPECT_THAT(statistics(*first), HasSubstr("STAT curr_items 100\r\n"));
    EXPECT_THAT(statistics(*first), HasSubstr("STAT cmd_get 1\r\n"));
  }
  const auto again = borrow_again<MemcachedProcess>(pid);
  const std::string counts = statistics(*again);
  for (const char* const none : {"curr_items", "cmd_get", "cmd_set", "get_hits", "total_items"}) {
    EXPECT_THAT(counts, HasSubstr("STAT " + std::string(none) + " 0\r\n"));
  }
  Client client = open(uri_of(*again));
  EXPECT_FALSE(client.get("key1").value());
}

// Without versions, the server knows what was stored before a flush by its clock of seconds only.
TEST(LentMemcached, WithoutVersionsItIsEmptyToo) {
  MemcachedOptions options;
  options.arguments = {"-C"};
  pid_t pid = 0;
  {
    const Lent<MemcachedProcess> first(options);
    pid = first->pid();
    ASSERT_TRUE(open(uri_of(*first)).set("key", "value"));
  }
  const auto again = borrow_again<MemcachedProcess>(pid, options);
  EXPECT_FALSE(open(uri_of(*again)).get("key").value());
}

class LentMemcachedWithUsers : public testing::TestWithParam<MemcachedOptions::LogIn> {};

INSTANTIATE_TEST_SUITE_P(By, LentMemcachedWithUsers,
                         testing::Values(MemcachedOptions::LogIn::sasl,
                                         MemcachedOptions::LogIn::text),
                         [](const auto& test) {
                           return test.param == MemcachedOptions::LogIn::sasl ? "Sasl" : "Text";
                         });

TEST_P(LentMemcachedWithUsers, IsEmptied) {
  MemcachedOptions options;
  options.log_in = GetParam();
  options.users = {{"cache", "s3cret"}, {"other", "word"}};
  pid_t pid = 0;
  {
    const Lent<MemcachedProcess> first(options);
    pid = first->pid();
    ASSERT_TRUE(open(uri_of(*first, "other:word@")).set("key", "value"));
  }
  const auto again = borrow_again<MemcachedProcess>(pid, options);
  EXPECT_FALSE(open(uri_of(*again, "other:word@")).get("key").value());
}

TEST(LentMemcached, TwoAtOnceAndOtherOptionsAreOtherServers) {
  const Lent<MemcachedProcess> one;
  const Lent<MemcachedProcess> two;
  MemcachedOptions options;
  options.arguments = {"-C"};
  const Lent<MemcachedProcess> other(options);
  EXPECT_NE(one->pid(), two->pid());
  EXPECT_NE(one->pid(), other->pid());
  EXPECT_NE(two->pid(), other->pid());
}

// Breaks a server and returns it. Returns its process then, and that of the next borrower.
std::pair<pid_t, pid_t> lent_after(void (*break_it)(MemcachedProcess&)) {
  pid_t pid = 0;
  {
    Lent<MemcachedProcess> lent;
    break_it(lent.to_break());
    pid = lent->pid();
  }
  const Lent<MemcachedProcess> again;
  EXPECT_TRUE(open(uri_of(*again)).set("key", "value"));
  return {pid, again->pid()};
}

TEST(LentMemcached, OneThatWasStoppedOrKilledIsLentAgainOnlyIfItIsBack) {
  const auto [stopped, another] = lent_after([](MemcachedProcess& server) { server.stop(); });
  EXPECT_NE(another, stopped);
  EXPECT_NE(::kill(stopped, 0), 0) << "it still runs";
  lent_after([](MemcachedProcess& server) { server.kill(); });
  const auto [back, same] = lent_after([](MemcachedProcess& server) {
    server.stop();
    server.resume();
    server.kill();
    server.restart();
  });
  EXPECT_EQ(same, back);
}

TEST(LentMemcached, OneThatEndsOnItsOwnFailsTheTest) {
  const auto lose = [] {
    const Lent<MemcachedProcess> lent;
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, lent->pid(), 0));
    ::kill(lent->pid(), SIGTERM);
    pollfd ended{process, POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 60'000), 1);
    ::close(process);
  };
  EXPECT_NONFATAL_FAILURE(lose(), "the server has ended on its own");
}

#endif
#ifdef SHEAF_TEST_REDIS_SERVERS

TEST(LentRedis, HasNoKeyScriptCountOrLogOfTheLastBorrower) {
  pid_t pid = 0;
  std::string script;
  {
    const Lent<RedisProcess> first;
    pid = first->pid();
    RespConnection connection(first->port());
    ASSERT_EQ(connection.text({"SET", "key", "value"}), "+OK");
    script = connection.ask({"SCRIPT", "LOAD", "return 7"}).root().text();
    ASSERT_EQ(connection.text({"EVALSHA", script, "0"}), "7");
    ASSERT_EQ(connection.text({"EVAL", "redis.log(redis.LOG_WARNING, 'from a test')", "0"}),
              "null");
    wait_for_condition("it is logged", [&] { return first->log().contains("from a test"); });
    ASSERT_TRUE(connection.ask({"AUTH", "nobody", "word"}).root().is_error());
    EXPECT_THAT(connection.text({"INFO", "commandstats"}), HasSubstr("cmdstat_set:calls=1"));
  }
  const auto again = borrow_again<RedisProcess>(pid);
  RespConnection connection(again->port());
  const std::string counts = connection.text({"INFO", "commandstats"});
  for (const char* const command : {"set", "get", "evalsha", "auth"}) {
    EXPECT_THAT(counts, Not(HasSubstr("cmdstat_" + std::string(command) + ":")));
  }
  EXPECT_EQ(connection.text({"ACL", "LOG"}), "[]");
  EXPECT_THAT(connection.text({"INFO", "stats"}), HasSubstr("keyspace_misses:0"));
  EXPECT_EQ(connection.text({"GET", "key"}), "null");
  EXPECT_THAT(connection.text({"EVALSHA", script, "0"}), HasSubstr("NOSCRIPT"));
  EXPECT_THAT(connection.text({"CLIENT", "LIST"}), Not(HasSubstr("\nid="))) << "one client";
  EXPECT_THAT(again->log(), Not(HasSubstr("from a test")));
}

TEST(LentRedis, OneWhoseConfigurationOrUsersWereChangedIsNotLentAgain) {
  for (const RespConnection::Words& change :
       {RespConnection::Words{"CONFIG", "SET", "maxmemory", "10000000"},
        RespConnection::Words{"ACL", "SETUSER", "app", "on", ">word", "~*", "+@all"}}) {
    {
      const Lent<RedisProcess> first;
      RespConnection connection(first->port());
      ASSERT_FALSE(connection.ask(change).root().is_error());
    }
    const Lent<RedisProcess> again;
    RespConnection connection(again->port());
    EXPECT_THAT(connection.text({"CONFIG", "GET", "maxmemory"}), HasSubstr("\"0\""));
    EXPECT_THAT(connection.text({"ACL", "LIST"}), Not(HasSubstr("user app")));
  }
}

TEST(LentRedis, WithALoginItIsEmptied) {
  for (const std::string user : {"", "app"}) {
    RedisOptions options;
    options.user = user;
    options.password = "s3cret";
    pid_t pid = 0;
    const auto log_in = [&](RespConnection& connection) {
      EXPECT_EQ(connection.text({"AUTH", user.empty() ? "default" : user, "s3cret"}), "+OK");
    };
    {
      const Lent<RedisProcess> first(options);
      pid = first->pid();
      RespConnection connection(first->port());
      log_in(connection);
      ASSERT_EQ(connection.text({"SET", "key", "value"}), "+OK");
    }
    const auto again = borrow_again<RedisProcess>(pid, options);
    RespConnection connection(again->port());
    log_in(connection);
    EXPECT_EQ(connection.text({"GET", "key"}), "null");
  }
}

TEST(LentRedisCluster, IsFormedAgainWhateverItsLastBorrowerHasDone) {
  RespClusterOptions options;
  options.replicas = 1;
  options.server.persistent = true;
  const std::uint16_t slot = protocol::resp::hash_slot("key");
  std::size_t home = 0;
  std::vector<pid_t> pids;
  {
    const LentCluster first(options);
    RespCluster& cluster = *first;
    cluster.wait_until_settled();
    home = cluster.owner(slot);
    ASSERT_EQ(cluster.text(home, {"SET", "key", "value"}), "+OK");
    cluster.migrate(slot, (home + 1) % 3);
    cluster.begin_migration(0, 1);
    ASSERT_EQ(cluster.text(1, {"CONFIG", "SET", "cluster-announce-hostname", "name"}), "+OK");
    cluster.set_node_timeout(5s);
    cluster.fail_over(5);
    cluster.stop(4);
    cluster.kill(0);
    for (std::size_t i = 0; i < cluster.size(); ++i) pids.push_back(cluster.server(i).pid());
  }
  const LentCluster again(options);
  RespCluster& cluster = *again;
  cluster.wait_until_settled();
  for (std::size_t i = 1; i < cluster.size(); ++i) EXPECT_EQ(cluster.server(i).pid(), pids[i]);
  EXPECT_EQ(cluster.owner(slot), home);
  EXPECT_EQ(cluster.owner(0), 0u);
  EXPECT_EQ(cluster.owner(protocol::resp::slot_count - 1), 2u);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    EXPECT_EQ(cluster.text(i, {"DBSIZE"}), "0");
    EXPECT_THAT(cluster.text(i, {"CLUSTER", "NODES"}), Not(HasSubstr("name")));
    EXPECT_THAT(cluster.text(i, {"CLUSTER", "NODES"}), Not(HasSubstr("->-"))) << "a migration";
    EXPECT_THAT(cluster.text(i, {"CONFIG", "GET", "cluster-node-timeout"}), HasSubstr("\"20000\""));
  }
}

TEST(LentRedisCluster, IsOnlyEmptiedIfItsLastBorrowerHasChangedNothingElse) {
  const std::uint16_t slot = protocol::resp::hash_slot("key");
  std::string id;
  {
    LentCluster first;
    first.changes_only_keys();
    RespCluster& cluster = *first;
    id = cluster.text(0, {"CLUSTER", "MYID"});
    ASSERT_EQ(cluster.text(cluster.owner(slot), {"SET", "key", "value"}), "+OK");
    cluster.text(0, {"SCRIPT", "LOAD", "return 1"});
  }
  const LentCluster again;
  RespCluster& cluster = *again;
  EXPECT_EQ(cluster.text(0, {"CLUSTER", "MYID"}), id);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    EXPECT_EQ(cluster.text(i, {"DBSIZE"}), "0");
    EXPECT_THAT(cluster.text(i, {"INFO", "memory"}), HasSubstr("number_of_cached_scripts:0"));
  }
}

#endif
#ifdef SHEAF_TEST_BROKERS

TEST(LentBroker, HasNoKeyCountOrLogOfTheLastBorrower) {
  pid_t pid = 0;
  const auto uri = [](const BrokerProcess& broker) {
    return "mqtt://127.0.0.1:" + std::to_string(broker.port());
  };
  {
    const Lent<BrokerProcess> first;
    pid = first->pid();
    Client client = open(uri(*first));
    ASSERT_TRUE(client.set("key", "value", {.timeout = 30s}));
    EXPECT_THAT(first->log(), HasSubstr("New client connected"));
  }
  auto again = borrow_again<BrokerProcess>(pid);
  EXPECT_THAT(again->log(), Not(HasSubstr("New client connected")));
  EXPECT_THAT(again->log(), Not(HasSubstr("state store ends")));
  EXPECT_FALSE(open(uri(*again)).get("key", {.timeout = 30s}).value());
  const std::string ends = again.to_break().forget();
  // The greeting asks the store a question, too.
  EXPECT_THAT(ends, HasSubstr("state store ends with 0 keys in 0 bytes; requests 2, writes 0,"));
}

#endif

}  // namespace
}  // namespace sheaf::test
