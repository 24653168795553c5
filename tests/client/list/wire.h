#pragma once

// Wire: the store at the other end of a list's register, writer or reader, played by a test. It
// takes the commands and answers each as the test says, after test::latency unless the test lets
// time pass.

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>

#include "client/calls/procedure.h"
#include "tests/support/latency.h"

namespace sheaf::client::list {

template <class Subject>
class Wire {
 public:
  explicit Wire(Subject& subject) : subject_(subject) {}

  // The next command, which stays in flight until the test answers it.
  const calls::Command& wants(protocol::Verb verb, const std::string& key) {
    calls::Command& command = commands_.emplace_back();
    EXPECT_TRUE(subject_.poll_command(command)) << "nothing is wanted, not even " << key;
    EXPECT_EQ(command.operation.verb, verb) << command.operation.key;
    EXPECT_EQ(command.operation.key, key);
    EXPECT_EQ(command.route, "jobs");
    EXPECT_TRUE(command.at_owner);
    time_.on_request(now.mono);
    return command;
  }
  void wants_nothing() {
    calls::Command command;
    EXPECT_FALSE(subject_.poll_command(command)) << command.operation.key;
  }

  void answer(const calls::Command& command, protocol::Status status, std::string_view version = {},
              std::string_view value = {}, std::optional<std::uint64_t> other = {}) {
    socket::Completion completion;
    completion.answered = true;
    completion.reply.status = status;
    completion.reply.version = version;
    completion.reply.value = value;
    completion.connection = other.value_or(connection);
    end(command, completion);
  }
  void fail(const calls::Command& command, Outcome outcome, Reason reason) {
    socket::Completion completion;
    completion.outcome = outcome;
    completion.reason = reason;
    end(command, completion);
  }
  // Advances the time to what the subject waits for.
  void wait() {
    now.mono = subject_.poll_deadline();
    subject_.on_deadline(now);
  }

  std::uint64_t connection = 7;  // the one that answers
  Now now{std::chrono::seconds(1'000), std::chrono::milliseconds(0)};

 private:
  void end(const calls::Command& command, socket::Completion& completion) {
    now.mono = time_.of_answer(now.mono);
    completion.now = now;
    subject_.on_answer(command.id, completion);
  }

  Subject& subject_;
  std::deque<calls::Command> commands_;
  test::AnswerTime time_;
};

}  // namespace sheaf::client::list
