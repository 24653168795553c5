// Where the user's own commands go, and what they wait for.

#include "cluster/command_router.h"

#include <array>

#include "protocol/refusals.h"
#include "tests/cluster/redirects_harness.h"

namespace sheaf::cluster {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string_view>;

// Servers that know READ and WRITE, whose arguments are keys, and that answer "table".
class CommandsOfScript final : public protocol::ServerCommands {
 public:
  protocol::CommandWords question() const override { return words_; }
  std::expected<void, std::string> on_reply(const protocol::Reply& reply) override {
    if (reply.value != "table") return std::unexpected("no table");
    known_ = true;
    return {};
  }
  bool known() const override { return known_; }
  std::optional<protocol::LocalError> find(protocol::CommandWords words,
                                           protocol::CommandUse& use) const override {
    if (words[0] == "WHAT") return protocol::invalid("nobody knows WHAT");
    use.keys.assign(words.begin() + 1, words.end());
    use.only_reads = words[0] == "READ";
    return std::nullopt;
  }
  std::optional<protocol::LocalError> refusal(protocol::CommandWords words) const override {
    if (words[0] != "MULTI") return std::nullopt;
    return protocol::unsupported("not MULTI");
  }
  std::string of_each_node(protocol::CommandWords words) const override {
    return words[0] == "ALL" ? "ALL" : "";
  }
  std::optional<CommandReply> read(std::string_view) const override { return CommandReply(); }

 private:
  const Words words_{"COMMAND"};
  bool known_ = false;
};

struct RoutedCommand final : socket::RequestSink {
  void on_done(socket::Request&, const socket::Completion& completion) override {
    ++ends;
    answered = completion.answered;
    outcome = completion.outcome;
    reason = completion.reason;
    text = completion.text;
  }
  CommandRequest request;
  Words words;
  Words keys;
  unsigned ends = 0;
  bool answered = false;
  Outcome outcome = Outcome::invalid;
  Reason reason = Reason::other;
  std::string text;
};

class CommandRouterTest : public RedirectsTest {
 protected:
  CommandRouterTest() {
    router = std::make_unique<CommandRouter>(CommandRouter::Parts{*cluster, loop, log, nullptr},
                                             std::make_unique<CommandsOfScript>(), 1s);
  }
  ~CommandRouterTest() override {
    cluster->shut_down(loop.now());
    loop.settle();
    router.reset();
  }

  RoutedCommand& make(Words words, std::chrono::nanoseconds timeout = 5s) {
    RoutedCommand& command = commands.emplace_back();
    command.words = std::move(words);
    command.request.operation.verb = protocol::Verb::command;
    command.request.operation.words = command.words;
    command.request.operation.deadline = loop.now().mono + timeout;
    command.request.sink = &command;
    return command;
  }
  RoutedCommand& run(RoutedCommand& command) {
    router->start(command.request, loop.now());
    loop.settle();
    return command;
  }
  RoutedCommand& run(Words words, std::chrono::nanoseconds timeout = 5s) {
    return run(make(std::move(words), timeout));
  }
  void give(const std::string& server, std::string_view value) {
    protocol::Reply reply;
    reply.value = value;
    session(server)->answer(reply);
    network.deliver(*session(server));
    loop.settle();
  }
  void learn() {
    RoutedCommand& first = run({"NONE"});
    give("a:1", "table");
    answer("a:1");
    ASSERT_TRUE(first.answered);
  }
  std::vector<std::string> keys_at(const std::string& server) { return session(server)->keys; }

  std::unique_ptr<CommandRouter> router;
  std::deque<RoutedCommand> commands;
};

TEST_F(CommandRouterTest, TheHomeOfACommandIsKnownOnceItNeedNotWait) {
  const Words read{"READ", "1"};
  const Words key{"200"};
  EXPECT_FALSE(router->home_of(read, std::nullopt)) << "the servers were not asked yet";
  const auto named = router->home_of(read, key);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->node, cluster->topology().owner("200"));
  EXPECT_EQ(named->key, "200");
  EXPECT_FALSE(named->only_reads) << "nothing is known of it";
  learn();
  const auto home = router->home_of(read, std::nullopt);
  ASSERT_TRUE(home);
  EXPECT_EQ(home->node, cluster->topology().owner("1"));
  EXPECT_EQ(home->key, "1");
  EXPECT_TRUE(home->only_reads);
  EXPECT_FALSE(router->home_of(Words{"NONE"}, std::nullopt)) << "without a key";
  EXPECT_FALSE(router->home_of(Words{"WRITE", "1", "1"}, std::nullopt)) << "with two";
  EXPECT_FALSE(router->home_of(Words{"MULTI", "1"}, std::nullopt)) << "must not be passed on";
  EXPECT_FALSE(router->home_of(read, Words{""})) << "an empty key";
}

TEST_F(CommandRouterTest, TheServersAreAskedOnceForAllCommandsThatWait) {
  RoutedCommand& one = run({"READ", "1"});
  RoutedCommand& two = run({"WRITE", "200"});
  EXPECT_EQ(in_flight("a:1") + in_flight("b:1"), 1u) << "one question";
  give("a:1", "table");
  EXPECT_EQ(keys_at("a:1").back(), "1");
  EXPECT_EQ(keys_at("b:1").back(), "200");
  answer("a:1");
  answer("b:1");
  EXPECT_TRUE(one.answered && two.answered);
  EXPECT_TRUE(one.request.only_reads());
  EXPECT_FALSE(two.request.only_reads());
  RoutedCommand& three = run({"READ", "2"});
  EXPECT_EQ(keys_at("a:1").back(), "2") << "they are not asked again";
  answer("a:1");
  EXPECT_TRUE(three.answered);
}

TEST_F(CommandRouterTest, CommandsThatHaveWaitedGoInTheirOrder) {
  session("a:1")->capacity = 100;
  for (const char* const key : {"1", "2", "3", "4", "5"}) run({"WRITE", key});
  give("a:1", "table");
  EXPECT_EQ(keys_at("a:1"), std::vector<std::string>({"", "1", "2", "3", "4", "5"}));
}

TEST_F(CommandRouterTest, AServerThatDoesNotSayItIsNotTheLastOneAsked) {
  RoutedCommand& command = run({"READ", "1"});
  give("a:1", "what?");
  give("a:1", "what?");
  EXPECT_EQ(command.ends, 0u);
  give("a:1", "table");
  answer("a:1");
  EXPECT_TRUE(command.answered);
}

TEST_F(CommandRouterTest, WithoutATableKeysMustBeNamed) {
  RoutedCommand& command = run({"READ", "1"});
  for (int i = 0; i < 3; ++i) give("a:1", "what?");
  EXPECT_EQ(command.outcome, Outcome::not_sent);
  EXPECT_EQ(
      command.text,
      "the servers do not report their commands, so the command's keys must be named: a:1: no "
      "table");
  RoutedCommand& named = make({"WHAT", "x", "200"});
  named.keys = {"200"};
  named.request.keys = named.keys;
  run(named);
  EXPECT_EQ(keys_at("b:1").back(), "200");
  answer("b:1");
  EXPECT_TRUE(named.answered);
}

TEST_F(CommandRouterTest, ACommandThatWaitsEndsByItsDeadlineOrBeforeThat) {
  RoutedCommand& late = run({"READ", "1"}, 100ms);
  RoutedCommand& cancelled = run({"READ", "1"});
  RoutedCommand& closed = run({"READ", "1"});
  router->cancel(cancelled.request, loop.now());
  EXPECT_EQ(cancelled.outcome, Outcome::not_sent);
  EXPECT_EQ(cancelled.reason, Reason::cancelled);
  loop.pass(200ms);
  EXPECT_EQ(late.ends, 1u);
  EXPECT_EQ(late.outcome, Outcome::not_sent);
  EXPECT_EQ(late.reason, Reason::timed_out);
  cluster->shut_down(loop.now());
  loop.settle();
  EXPECT_EQ(closed.ends, 1u);
  EXPECT_EQ(closed.outcome, Outcome::shutdown);
}

TEST_F(CommandRouterTest, KeysInTwoSlotsAreRefusedAndNothingIsSent) {
  learn();
  RoutedCommand& command = run({"WRITE", "1", "2"});
  EXPECT_EQ(command.outcome, Outcome::invalid);
  EXPECT_EQ(command.text,
            "the keys \"1\" and \"2\" of the command are in the slots 1 and 2; it needs all in one "
            "slot, for example with the same {tag} in each");
  EXPECT_EQ(run({"WRITE", ""}).text, "a key of the command is empty; it needs at least 1 byte");
  EXPECT_EQ(in_flight("a:1"), 0u);
  RoutedCommand& together = run({"WRITE", "7", "7"});
  answer("a:1");
  EXPECT_TRUE(together.answered);
}

TEST_F(CommandRouterTest, RedirectsOfACommandWithKeysAreFollowed) {
  learn();
  RoutedCommand& command = run({"WRITE", "1"});
  ask("a:1", 1, "b");
  loop.settle();
  EXPECT_EQ(in_flight("b:1"), 1u);
  EXPECT_TRUE(asks("b:1"));
  answer("b:1");
  EXPECT_TRUE(command.answered);
  EXPECT_EQ(command.ends, 1u);
}

TEST_F(CommandRouterTest, ACommandWithoutKeysGoesToANodeThatIsUp) {
  learn();
  RoutedCommand& command = run({"NONE"});
  EXPECT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(command.answered);
}

TEST_F(CommandRouterTest, ACommandForANodeGoesThereWhateverItsKeys) {
  RoutedCommand& command = make({"WRITE", "1"});
  command.request.only_node = "b:1";
  run(command);
  EXPECT_EQ(in_flight("b:1"), 1u) << "without a table";
  moved("b:1", 1, "a");
  EXPECT_EQ(command.outcome, Outcome::refused);
  EXPECT_EQ(command.text, "MOVED it");
  RoutedCommand& nowhere = make({"WRITE", "1"});
  nowhere.request.only_node = "z:1";
  run(nowhere);
  EXPECT_EQ(nowhere.outcome, Outcome::invalid);
  EXPECT_EQ(nowhere.text, "z:1 is not a node of the cluster; its nodes are a:1, b:1");
}

TEST_F(CommandRouterTest, ACommandOfEachNodeIsRefusedWhereSeveralOwnKeys) {
  learn();
  RoutedCommand& command = run({"ALL"});
  EXPECT_EQ(command.outcome, Outcome::invalid);
  EXPECT_EQ(command.text,
            "ALL concerns each of the 2 nodes: send it to one (--node HOST:PORT, Command::at_node) "
            "or to all (--all-nodes, Client::execute_on_all)");
  EXPECT_EQ(in_flight("a:1") + in_flight("b:1"), 0u);
  RoutedCommand& there = make({"ALL"});
  there.request.only_node = "b:1";
  run(there);
  EXPECT_EQ(in_flight("b:1"), 1u);
  answer("b:1");
  RoutedCommand& anywhere = make({"ALL"});
  anywhere.request.keys.emplace();
  run(anywhere);
  EXPECT_EQ(in_flight("a:1"), 1u) << "the caller says that any node may carry it out";
  answer("a:1");
}

// The first member has no slots, but is up.
TEST_F(CommandRouterTest, ACommandOfEachNodeGoesToTheOnlyOneThatOwnsKeys) {
  learn();
  apply({a, b}, {{16'384, 1}});
  RoutedCommand& command = run({"ALL"});
  EXPECT_EQ(in_flight("a:1"), 0u);
  EXPECT_EQ(in_flight("b:1"), 1u);
  answer("b:1");
  EXPECT_TRUE(command.answered);
}

TEST_F(CommandRouterTest, AReplicaIsNotOneOfTheNodesThatOwnKeys) {
  learn();
  apply({a, b}, {{16'384, 0}}, std::array{nobody, 0u});
  RoutedCommand& command = run({"ALL"});
  EXPECT_EQ(in_flight("a:1"), 1u);
  answer("a:1");
  EXPECT_TRUE(command.answered);
}

TEST_F(CommandRouterTest, WhatIsNotPassedOnEndsBeforeAnythingIsAsked) {
  EXPECT_EQ(run({"MULTI"}).outcome, Outcome::unsupported);
  EXPECT_EQ(in_flight("a:1") + in_flight("b:1"), 0u);
  learn();
  EXPECT_EQ(run({"WHAT"}).text, "nobody knows WHAT");
}

TEST_F(CommandRouterTest, ACommandMayBeStartedAgainAfterItsEnd) {
  learn();
  RoutedCommand& command = run({"READ", "1"});
  session("a:1")->end(Reason::connection_lost, "gone");
  network.deliver(*session("a:1"));
  loop.settle();
  EXPECT_EQ(command.outcome, Outcome::unknown);
  EXPECT_TRUE(command.request.only_reads());
  connect();
  run(command);
  connect();
  answer("a:1");
  EXPECT_TRUE(command.answered);
  EXPECT_EQ(command.ends, 2u);
}

}  // namespace
}  // namespace sheaf::cluster
