#pragma once

// Runs a procedure by hand, answer by answer, for tests of pure plans. Answers take test::latency
// unless the test says when they come.

#include <gtest/gtest.h>

#include "client/calls/procedure.h"
#include "tests/support/latency.h"

namespace sheaf::test {

// What a plan wants next, and how that ended.
template <class Plan>
class Transcript {
 public:
  explicit Transcript(Plan& plan) : plan_(plan) {}

  // The next command; fails the test if there is no command.
  const client::calls::Command& wants() {
    EXPECT_TRUE(plan_.poll_command(command_)) << "wants nothing";
    time_.on_request(now_.mono);
    return command_;
  }
  bool wants_nothing() { return !plan_.poll_command(command_); }
  // The command that was wanted last.
  const client::calls::Command& command() const { return command_; }
  void at(Deadline time) { now_.mono = time; }
  Now now() const { return now_; }

  void answer(protocol::Status status, std::string_view version = {}, std::string_view value = {}) {
    socket::Completion done;
    done.answered = true;
    done.reply.status = status;
    done.reply.version = version;
    done.reply.value = value;
    done.reply.flags = flags;
    done.connection = connection;
    done.node = "n1:1";
    end(done);
  }
  void fail(Outcome outcome, Reason reason = Reason::timed_out) {
    socket::Completion done;
    done.outcome = outcome;
    done.reason = reason;
    end(done);
  }
  // Advances the time to what the plan waits for.
  Deadline wait() {
    at(plan_.poll_deadline());
    plan_.on_deadline(now_);
    return now_.mono;
  }

  std::uint64_t connection = 7;  // the one that carries the answers
  std::uint32_t flags = 0;       // in the answers

 private:
  void end(socket::Completion& done) {
    at(time_.of_answer(now_.mono));
    done.now = now_;
    plan_.on_answer(command_.id, done);
  }

  Plan& plan_;
  client::calls::Command command_;
  Now now_{std::chrono::seconds(1000), std::chrono::milliseconds(0)};
  AnswerTime time_;
};

}  // namespace sheaf::test
