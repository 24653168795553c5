// Pass-through commands on clusters of real servers: where they are sent, what they return, what is
// refused, and what happens to them while slots move and connections end.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/async.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/contract/endpoints.h"
#include "tests/support/garnet_process.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/task.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::RespSoftware;

constexpr std::chrono::milliseconds command_limit = 30s;
constexpr CommandOptions patient{.timeout = command_limit};

// Checks for a cluster of any software, run one after another on the same cluster.
class CommandChecks : public testing::Test {
 public:
  void begin(RespSoftware software) {
    test::RespClusterOptions options;
    options.software = software;
    options.replicas = software == RespSoftware::garnet ? 0 : 1;
    lent.emplace(options);
    lent->changes_only_keys();
    cluster = &**lent;
    client.emplace(test::open("redis://" + node(0)));
  }
  std::string node(std::size_t server) const {
    return "127.0.0.1:" + std::to_string(cluster->server(server).port());
  }
  // The reply's "text", or the error's.
  std::string run(Command command) {
    const auto reply = client->execute(std::move(command), patient);
    if (!reply) return reply.error().text;
    if (const auto number = reply->number()) return std::to_string(*number);
    return std::string(reply->text().value_or(to_string(reply->kind())));
  }

  void keys_decide_where_they_go();
  void what_the_server_refuses_is_an_error_in_its_own_words();
  void a_reply_above_the_limit_says_what_was_done();
  void what_cannot_work_is_refused_before_it_is_sent();
  void without_keys_they_go_to_any_node_or_to_the_one_that_is_named();
  void those_of_each_node_go_to_all_or_to_the_one_that_is_named();
  void keys_that_the_caller_names_need_no_table();
  void replies_have_the_shape_that_the_server_gave_them();
  void all_forms_say_the_same();
  void a_moving_slot_loses_and_repeats_nothing();
  void the_servers_of_the_cluster_are_listed();

  std::optional<test::LentCluster> lent;
  test::RespCluster* cluster = nullptr;
  std::optional<Client> client;
};

void CommandChecks::keys_decide_where_they_go() {
  for (const std::string key : {"a", "b", "c", "foo", "x", "wxz"}) {
    EXPECT_EQ(run({"SET", key, "value of " + key}), "OK") << key;
    EXPECT_EQ(client->get(key, {.timeout = command_limit})->value().data, "value of " + key);
    EXPECT_EQ(run({"APPEND", key, "!"}), std::to_string(key.size() + 10));
    EXPECT_EQ(run({"strlen", key}), std::to_string(key.size() + 10));
  }
  EXPECT_EQ(run({"MSET", "{t}1", "one", "{t}2", "two"}), "OK");
  const auto both = client->execute({"MGET", "{t}2", "{t}3", "{t}1"}, patient);
  ASSERT_TRUE(both) << both.error().message();
  ASSERT_EQ(both->size(), 3u);
  EXPECT_EQ((*both)[0].text(), "two");
  EXPECT_TRUE((*both)[1].is_null());
  EXPECT_EQ((*both)[2].text(), "one");
  EXPECT_EQ(run({"ZADD", "board", "1.5", "ann", "2", "bob"}), "2");
  EXPECT_EQ(run({"ZUNIONSTORE", "{board}2", "1", "board"}), "2") << "movable keys";
}

void CommandChecks::what_the_server_refuses_is_an_error_in_its_own_words() {
  EXPECT_EQ(run({"SET", "text", "x"}), "OK");
  const auto wrong = client->execute({"LPUSH", "text", "y"}, patient);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().outcome, Outcome::refused);
  EXPECT_EQ(wrong.error().reason, Reason::wrong_type);
  EXPECT_TRUE(wrong.error().text.starts_with("WRONGTYPE")) << wrong.error().text;
  EXPECT_FALSE(wrong.error().node.empty());
}

void CommandChecks::a_reply_above_the_limit_says_what_was_done() {
  Client narrow = test::open("redis://" + node(0) + "?value_limit=1MiB");
  ASSERT_EQ(run({"SET", "large", std::string(1'200'000, 'v')}), "OK");
  const auto read = narrow.execute({"GET", "large"}, patient);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().outcome, Outcome::refused);
  EXPECT_EQ(read.error().reason, Reason::too_large);
  const auto replaced = narrow.execute({"SET", "large", "new", "GET"}, patient);
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().outcome, Outcome::unknown);
  EXPECT_EQ(replaced.error().reason, Reason::too_large);
  EXPECT_EQ(run({"GET", "large"}), "new");
}

void CommandChecks::what_cannot_work_is_refused_before_it_is_sent() {
  const auto crossed = client->execute({"MGET", "foo", "x"}, patient);
  ASSERT_FALSE(crossed);
  EXPECT_EQ(crossed.error().outcome, Outcome::invalid);
  EXPECT_EQ(crossed.error().text,
            "the keys \"foo\" and \"x\" of the command are in the slots 12182 and 16287; it needs "
            "all in one slot, for example with the same {tag} in each");
  for (const Command& command : {Command{"MULTI"}, Command{"SUBSCRIBE", "news"},
                                 Command{"BLPOP", "k", "0"}, Command{"AUTH", "secret"}}) {
    const auto refused = client->execute(command, patient);
    ASSERT_FALSE(refused) << command.words()[0];
    EXPECT_EQ(refused.error().outcome, Outcome::unsupported) << command.words()[0];
  }
  EXPECT_TRUE(run({"NOSUCHTHING", "k"}).starts_with("the servers know no command \"NOSUCHTHING\""));
  EXPECT_FALSE(client->execute(Command(std::vector<std::string>{}), patient));
}

void CommandChecks::without_keys_they_go_to_any_node_or_to_the_one_that_is_named() {
  EXPECT_EQ(run({"PING"}), "PONG");
  EXPECT_EQ(run({"ECHO", "hello"}), "hello");
  EXPECT_EQ(run({"SET", "foo", "1"}), "OK");
  std::size_t keys = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto size = client->execute(Command{"DBSIZE"}.at_node(node(i)), patient);
    ASSERT_TRUE(size) << size.error().message();
    keys += static_cast<std::size_t>(size->number().value_or(0));
  }
  EXPECT_EQ(keys, 1u);
  const auto elsewhere = client->execute(Command{"DBSIZE"}.at_node("127.0.0.1:1"), patient);
  ASSERT_FALSE(elsewhere);
  EXPECT_TRUE(elsewhere.error().text.starts_with(
      "127.0.0.1:1 is not a node of the cluster; its nodes are 127.0.0.1:"))
      << elsewhere.error().text;
  std::size_t served = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto got = client->execute(Command{"GET", "foo"}.at_node(node(i)), patient);
    served += got ? 1 : 0;
    if (!got) {
      EXPECT_TRUE(got.error().text.starts_with("MOVED")) << got.error().text;
    }
  }
  EXPECT_EQ(served, 1u) << "a redirect is the answer of a node that was named";
}

void CommandChecks::those_of_each_node_go_to_all_or_to_the_one_that_is_named() {
  for (const char* const key : {"a", "b", "c", "foo", "x", "wxz"}) {
    EXPECT_EQ(run({"SET", key, "1"}), "OK");
  }
  for (const Command& command : {Command{"FLUSHALL"}, Command{"DBSIZE"}, Command{"KEYS", "*"}}) {
    const auto refused = client->execute(command, patient);
    ASSERT_FALSE(refused) << command.words()[0];
    EXPECT_EQ(refused.error().outcome, Outcome::invalid) << command.words()[0];
    EXPECT_TRUE(refused.error().text.contains("concerns each of the 3 nodes"))
        << refused.error().text;
  }
  const auto keys_of = [&] {
    std::int64_t keys = 0;
    const auto replies = client->execute_on_all({"DBSIZE"}, patient);
    EXPECT_TRUE(replies) << replies.error().message();
    for (const NodeReply& each : replies.value_or(std::vector<NodeReply>())) {
      EXPECT_TRUE(each.reply) << each.reply.error().message();
      keys += each.reply.value_or(CommandReply()).number().value_or(0);
    }
    EXPECT_EQ(replies->size(), 3u) << "the primaries";
    return keys;
  };
  EXPECT_EQ(keys_of(), 6);
  ASSERT_TRUE(client->execute_on_all({"FLUSHALL"}, patient));
  EXPECT_EQ(keys_of(), 0);
  // What a node refuses is in its place, and says nothing about the others.
  const auto moved = client->execute_on_all({"SET", "foo", "1"}, patient);
  ASSERT_TRUE(moved) << moved.error().message();
  std::size_t stored = 0;
  for (const NodeReply& each : *moved) {
    if (each.reply) ++stored;
    if (!each.reply) {
      EXPECT_TRUE(each.reply.error().text.starts_with("MOVED")) << each.reply.error().text;
      EXPECT_EQ(each.reply.error().node, each.node);
    }
  }
  EXPECT_EQ(stored, 1u);
  for (const Command& wrong : {Command{"MULTI"}, Command{"DBSIZE"}.at_node(node(0))}) {
    EXPECT_FALSE(client->execute_on_all(wrong, patient)) << wrong.words()[0];
  }
}

void CommandChecks::keys_that_the_caller_names_need_no_table() {
  EXPECT_EQ(run({"SET", "foo", "1"}), "OK");
  EXPECT_EQ(run(Command{"GET", "foo"}.keys({"foo"})), "1");
  const std::string unknown = run(Command{"NOSUCHTHING", "foo"}.keys({"foo"}));
  EXPECT_TRUE(unknown.starts_with("ERR unknown command")) << unknown;
}

void CommandChecks::replies_have_the_shape_that_the_server_gave_them() {
  EXPECT_EQ(run({"HSET", "hash", "a", "1", "b", "2"}), "2");
  const auto hash = client->execute({"HGETALL", "hash"}, patient);
  ASSERT_TRUE(hash);
  EXPECT_EQ(hash->size(), 4u);
  EXPECT_EQ(hash->find("b")->text(), "2");
  EXPECT_EQ(run({"GET", "nothing here"}), "null");
  const auto info = client->execute({"COMMAND", "INFO", "get"}, patient);
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ((*info)[0][1].number(), 2);
}

void CommandChecks::all_forms_say_the_same() {
  client->async().execute({"SET", "form", "1"}, patient).then([](Result<CommandReply>) {});
  const auto later = client->async().execute({"INCR", "form"}, patient).future().get();
  ASSERT_TRUE(later) << later.error().message();
  EXPECT_EQ(later->number(), 2);
  const auto awaited = [](AsyncClient async) -> test::Task<Result<CommandReply>> {
    Command command{"INCR", "form"};
    co_return co_await async.execute(std::move(command), patient);
  }(client->async())
                                                    .get();
  ASSERT_TRUE(awaited) << awaited.error().message();
  EXPECT_EQ(awaited->number(), 3);
  std::stop_source stopped;
  stopped.request_stop();
  const std::stop_token token = stopped.get_token();
  const auto not_begun = client->execute({"INCR", "form"}, {.stop = &token});
  ASSERT_FALSE(not_begun);
  EXPECT_EQ(not_begun.error().reason, Reason::cancelled);
  EXPECT_EQ(run({"GET", "form"}), "3");
}

// A counter whose slot moves back and forth counts each increment once.
void CommandChecks::a_moving_slot_loses_and_repeats_nothing() {
  const std::string key = "foo";
  const auto slot = protocol::resp::hash_slot(key);
  EXPECT_EQ(run({"SET", key, "0"}), "OK");
  std::atomic<int> counted = 0;
  std::string finding;
  std::jthread counter([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto reply = client->execute({"INCR", key}, patient);
      if (!reply) {
        finding = reply.error().message();
        return;
      }
      ++counted;
    }
  });
  for (int round = 0; round < 4; ++round) {
    cluster->migrate(slot, (cluster->owner(slot) + 1) % 3);
    cluster->wait_until_settled();
  }
  counter.request_stop();
  counter.join();
  EXPECT_EQ(finding, "");
  EXPECT_GT(counted, 0);
  EXPECT_EQ(run({"GET", key}), std::to_string(counted));
}

void CommandChecks::the_servers_of_the_cluster_are_listed() {
  const auto servers = client->cluster_servers({.timeout = command_limit});
  ASSERT_TRUE(servers) << servers.error().message();
  ASSERT_EQ(servers->size(), cluster->size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const ClusterServer& server = (*servers)[i];
    EXPECT_FALSE(server.replica);
    EXPECT_GT(server.epoch, 0u);
    ASSERT_EQ(server.slots.size(), 1u);
    EXPECT_EQ(server.slots[0].first, next);
    next = server.slots[0].last + 1;
  }
  EXPECT_EQ(next, 16'384u);
  for (std::size_t i = 3; i < servers->size(); ++i) {
    const ClusterServer& replica = (*servers)[i];
    EXPECT_TRUE(replica.replica);
    EXPECT_TRUE(replica.slots.empty());
    const auto its = std::ranges::find(*servers, replica.primary, &ClusterServer::node);
    ASSERT_NE(its, servers->end());
    EXPECT_FALSE(its->replica);
  }
}

class RedisCommands : public CommandChecks {
 protected:
  RedisCommands() { begin(test::usual_software()); }
};

TEST_F(RedisCommands, KeysDecideWhereTheyGo) { keys_decide_where_they_go(); }
TEST_F(RedisCommands, WhatTheServerRefusesIsAnErrorInItsOwnWords) {
  what_the_server_refuses_is_an_error_in_its_own_words();
}
TEST_F(RedisCommands, AReplyAboveTheLimitSaysWhatWasDone) {
  a_reply_above_the_limit_says_what_was_done();
}
TEST_F(RedisCommands, WhatCannotWorkIsRefusedBeforeItIsSent) {
  what_cannot_work_is_refused_before_it_is_sent();
}
TEST_F(RedisCommands, WithoutKeysTheyGoToAnyNodeOrToTheOneThatIsNamed) {
  without_keys_they_go_to_any_node_or_to_the_one_that_is_named();
}
TEST_F(RedisCommands, ThoseOfEachNodeGoToAllOrToTheOneThatIsNamed) {
  those_of_each_node_go_to_all_or_to_the_one_that_is_named();
}
TEST_F(RedisCommands, KeysThatTheCallerNamesNeedNoTable) {
  keys_that_the_caller_names_need_no_table();
}
TEST_F(RedisCommands, RepliesHaveTheShapeThatTheServerGaveThem) {
  replies_have_the_shape_that_the_server_gave_them();
}
TEST_F(RedisCommands, AllFormsSayTheSame) { all_forms_say_the_same(); }
TEST_F(RedisCommands, AMovingSlotLosesAndRepeatsNothing) {
  lent->changes_only_keys(false);
  a_moving_slot_loses_and_repeats_nothing();
}
TEST_F(RedisCommands, TheServersOfTheClusterAreListed) { the_servers_of_the_cluster_are_listed(); }

// Forming a Garnet cluster takes many seconds.
class GarnetCommands : public CommandChecks {};

TEST_F(GarnetCommands, GoAndEndAsOnRedis) {
  if (!test::is_installed(test::RespSoftware::garnet)) {
    GTEST_SKIP() << test::not_installed(test::RespSoftware::garnet);
  }
  begin(RespSoftware::garnet);
  for (const auto check :
       {&GarnetCommands::keys_decide_where_they_go,
        &GarnetCommands::what_the_server_refuses_is_an_error_in_its_own_words,
        &GarnetCommands::what_cannot_work_is_refused_before_it_is_sent,
        &GarnetCommands::without_keys_they_go_to_any_node_or_to_the_one_that_is_named,
        &GarnetCommands::those_of_each_node_go_to_all_or_to_the_one_that_is_named,
        &GarnetCommands::keys_that_the_caller_names_need_no_table,
        &GarnetCommands::replies_have_the_shape_that_the_server_gave_them,
        &GarnetCommands::all_forms_say_the_same,
        &GarnetCommands::the_servers_of_the_cluster_are_listed,
        &GarnetCommands::a_moving_slot_loses_and_repeats_nothing}) {
    for (std::size_t i = 0; i < 3; ++i) cluster->text(i, {"FLUSHALL"});
    (this->*check)();
  }
}

// A server that holds writes holds PFCOUNT, too, although it only reads. So both commands are in
// flight when the connections are cut.
TEST(RedisCommandsLost, OnlyWhatReadsIsSentAgain) {
  const test::LentCluster lent;
  test::RespCluster& cluster = *lent;
  Client client = test::open("redis://127.0.0.1:" + std::to_string(cluster.server(0).port()));
  ASSERT_TRUE(client.execute({"SET", "foo", "0"}, patient));
  ASSERT_TRUE(client.execute({"PFADD", "{foo}seen", "one"}, patient));
  const auto owner = cluster.owner(protocol::resp::hash_slot("foo"));
  cluster.text(owner, {"CLIENT", "PAUSE", "60000", "WRITE"});
  auto read = client.async().execute({"PFCOUNT", "{foo}seen"}, patient).future();
  auto write = client.async().execute({"INCR", "foo"}, patient).future();
  const auto both_sent = [&] {
    std::uint32_t in_flight = 0;
    for (const NodeStats& stats : client.stats()) in_flight += stats.in_flight;
    return in_flight == 2;
  };
  test::wait_for_condition("both are on their way", both_sent);
  cluster.ask(owner, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  const auto lost = write.get();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().outcome, Outcome::unknown);
  EXPECT_EQ(lost.error().reason, Reason::connection_lost);
  cluster.text(owner, {"CLIENT", "UNPAUSE"});
  const auto count = read.get();
  ASSERT_TRUE(count) << count.error().message();
  EXPECT_EQ(count->number(), 1);
  EXPECT_EQ(client.execute({"GET", "foo"}, patient)->text(), "0") << "it was not repeated";
}

}  // namespace
}  // namespace sheaf

#endif
