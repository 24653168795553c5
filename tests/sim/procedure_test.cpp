// Procedures on the real stack: commands and answers, deadlines, the connection to which they are
// bound, and how they end with their owner, with the client, or without either.

#include "client/calls/procedure.h"

#include <gtest/gtest.h>

#include <deque>

#include "client/calls/procedure_host.h"
#include "tests/sim/kit/stack.h"

namespace sheaf::sim {
namespace {

using namespace std::chrono_literals;
using client::calls::Command;

// Sends the commands that a test puts into it, and logs every call that it receives.
struct Script final : client::calls::Procedure {
  struct Log {
    std::vector<std::string> heard;
    std::vector<std::uint64_t> connections;
    bool gone = false;
  };
  explicit Script(Log& to) : log(to) {}
  ~Script() override { log.gone = true; }

  void get(const std::string& key, Deadline deadline, std::uint64_t connection = 0) {
    keys.push_back(key);
    Command command;
    command.id = static_cast<unsigned>(keys.size());
    command.operation.verb = protocol::Verb::get;
    command.operation.key = keys.back();
    command.operation.deadline = deadline;
    command.connection = connection;
    wanted.push_back(command);
  }

  void start(Now) override { log.heard.emplace_back("start"); }
  void on_answer(unsigned, const socket::Completion& answer) override {
    log.heard.emplace_back(answer.answered ? "answer" : to_string(answer.reason));
    if (answer.answered) log.connections.push_back(answer.connection);
  }
  void on_deadline(Now) override {
    log.heard.emplace_back("deadline");
    wake = never;
  }
  void on_connection_ended(std::uint64_t connection, Now) override {
    log.heard.emplace_back("connection ended");
    log.connections.push_back(connection);
  }
  bool on_cancel(Now) override {
    log.heard.emplace_back("cancel");
    over = true;
    return cancels;
  }
  void on_shutdown(Now) override {
    log.heard.emplace_back("shutdown");
    over = true;
  }
  bool poll_command(Command& command) override {
    if (wanted.empty()) return false;
    command = wanted.front();
    wanted.pop_front();
    return true;
  }
  Deadline poll_deadline() const override { return wake; }
  bool done() const override { return over; }

  Log& log;
  std::deque<std::string> keys;
  std::deque<Command> wanted;
  Deadline wake = never;
  bool over = false;
  bool cancels = true;
};

struct Owner final : client::calls::ProcedureOwner {
  client::calls::ProcedureRun* run = nullptr;
  unsigned calls = 0;
  void on_progress(client::calls::ProcedureRun& r, Now) override {
    run = &r;
    ++calls;
  }
};

class ProcedureTest : public testing::Test {
 protected:
  ProcedureTest() {
    auto made = std::make_unique<Script>(log);
    script = made.get();
    client.run(std::move(made), owner);
    pass(1ms);
  }
  void pass(std::chrono::nanoseconds time) { stack.world.run_for(time); }
  Deadline in(std::chrono::nanoseconds time) { return stack.world.now().mono + time; }
  void resume() {
    client.later([this](Now now) { owner.run->resume(now); });
  }
  Script::Log log;  // outlives the procedure
  Owner owner;
  Stack stack{3, 2};
  StackClient& client = stack.add_client();
  Script* script;
};

TEST_F(ProcedureTest, CommandsAreCarriedOutAndEachIsAnsweredOnce) {
  script->get(stack.key_on(0), in(1s));
  script->get(stack.key_on(1), in(1s));
  resume();
  pass(1s);
  EXPECT_EQ(log.heard, (std::vector<std::string>{"start", "answer", "answer"}));
  ASSERT_EQ(log.connections.size(), 2u);
  EXPECT_NE(log.connections[0], log.connections[1]);
  EXPECT_GE(owner.calls, 3u);
}

TEST_F(ProcedureTest, ItIsWokenAtItsDeadline) {
  script->wake = in(50ms);
  resume();
  pass(49ms);
  EXPECT_EQ(log.heard.size(), 1u);
  pass(2ms);
  EXPECT_EQ(log.heard.back(), "deadline");
}

TEST_F(ProcedureTest, ABoundCommandIsNotSentOnceItsConnectionHasEnded) {
  const std::string key = stack.key_on(0);
  script->get(key, in(1s));
  resume();
  pass(500ms);
  ASSERT_EQ(log.connections.size(), 1u);
  const std::uint64_t connection = log.connections.front();
  script->get(key, in(1s), connection);
  resume();
  pass(500ms);
  EXPECT_EQ(log.heard.back(), "answer");
  EXPECT_EQ(log.connections.back(), connection);

  stack.broker(0).reset_all();
  pass(500ms);
  EXPECT_EQ(log.heard.back(), "connection ended");
  EXPECT_EQ(log.connections.back(), connection);
  script->get(key, in(1s), connection);
  script->get(key, in(1s));
  resume();
  pass(500ms);
  ASSERT_GE(log.heard.size(), 2u);
  EXPECT_EQ(log.heard[log.heard.size() - 2], to_string(Reason::connection_lost));
  EXPECT_EQ(log.heard.back(), "answer");
  EXPECT_NE(log.connections.back(), connection);
}

TEST_F(ProcedureTest, CancelledItHearsTheEndsOfWhatIsInFlightBeforeItGoesOn) {
  pass(500ms);
  stack.broker(0).stop();
  for (int i = 0; i < 3; ++i) script->get(stack.key_on(0), in(10s));
  resume();
  pass(10ms);
  const unsigned calls = owner.calls;
  client.later([this](Now now) { owner.run->cancel(now); });
  pass(1us);
  EXPECT_EQ(log.heard,
            (std::vector<std::string>{"start", "cancel", "cancelled", "cancelled", "cancelled"}));
  EXPECT_EQ(owner.calls, calls + 1);
}

TEST_F(ProcedureTest, CancelledItMayLetGoOnWhatIsInFlight) {
  pass(500ms);
  script->cancels = false;
  script->get(stack.key_on(0), in(1s));
  resume();
  client.later([this](Now now) {
    owner.run->cancel(now);
    owner.run->release();
  });
  EXPECT_FALSE(log.gone);
  pass(1s);
  EXPECT_EQ(log.heard, (std::vector<std::string>{"start", "cancel", "answer"}));
  EXPECT_TRUE(log.gone);
}

TEST_F(ProcedureTest, AbandonedByItsOwnerItLivesUntilItIsDoneAndNothingIsInFlight) {
  script->get(stack.key_on(0), in(1s));
  client.later([this](Now now) {
    owner.run->resume(now);
    script->over = true;
    owner.run->release();
  });
  pass(1us);
  EXPECT_FALSE(log.gone) << "its request is in flight";
  pass(1s);
  EXPECT_TRUE(log.gone);
  EXPECT_EQ(log.heard.back(), "answer");
  EXPECT_TRUE(client.procedures().empty());
}

TEST_F(ProcedureTest, TheClosingClientEndsItAndWhatItStillWantsIsNotSent) {
  script->get(stack.key_on(0), in(10s));
  resume();
  pass(1us);
  client.later([this](Now) {
    script->get(stack.key_on(1), in(1s));
    client.shut_down();
  });
  pass(1s);
  std::erase(log.heard, "connection ended");
  EXPECT_EQ(log.heard[1], "shutdown");
  ASSERT_EQ(log.heard.size(), 4u) << "both are answered, once";
  for (unsigned i = 2; i < 4; ++i) EXPECT_NE(log.heard[i], "answer");
}

}  // namespace
}  // namespace sheaf::sim
