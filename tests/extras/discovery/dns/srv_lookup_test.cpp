#include "extras/discovery/dns/srv_lookup.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::discovery::dns {
namespace {

using namespace std::chrono_literals;

// The steps of the plan, one per line: which server is asked, over which transport, until when.
class Transcript {
 public:
  explicit Transcript(std::size_t servers, Deadline deadline = 60s) : plan_(servers, deadline) {}

  std::string next(Deadline now = 0s) {
    const auto attempt = plan_.next(now);
    if (!attempt) return "over";
    return std::to_string(attempt->server) + (attempt->tcp ? " tcp " : " udp ") +
           std::to_string(attempt->until / 1ms);
  }
  void answer(ResponseCode code) { plan_.on_answer({.code = code}); }
  SrvLookup& plan() { return plan_; }
  Error error() {
    EXPECT_EQ(next(), "over");
    auto taken = plan_.take();
    EXPECT_FALSE(taken.has_value());
    return taken ? Error{} : taken.error();
  }

 private:
  SrvLookup plan_;
};

TEST(SrvLookup, TheFirstAnswerWithRecordsEndsIt) {
  Transcript run(2);
  EXPECT_EQ(run.next(), "0 udp 1000");
  run.plan().on_answer({.records = {{0, 1, 2, "a"}}});
  EXPECT_EQ(run.next(), "over");
  EXPECT_EQ(run.plan().take(), (std::vector<SrvRecord>{{0, 1, 2, "a"}}));
}

TEST(SrvLookup, WhatDoesNotFitIsAskedForOverTcp) {
  Transcript run(2);
  EXPECT_EQ(run.next(), "0 udp 1000");
  run.plan().on_answer({.truncated = true});
  EXPECT_EQ(run.next(500ms), "0 tcp 1500");
  run.plan().on_answer({.records = {{0, 1, 2, "a"}}});
  EXPECT_EQ(run.next(), "over");
  EXPECT_TRUE(run.plan().take().has_value());
}

TEST(SrvLookup, TheNextServerIsAskedOverUdpAgain) {
  Transcript run(2);
  EXPECT_EQ(run.next(), "0 udp 1000");
  run.plan().on_answer({.truncated = true});
  EXPECT_EQ(run.next(), "0 tcp 1000");
  run.plan().on_failure("Connection refused");
  EXPECT_EQ(run.next(), "1 udp 1000");
}

TEST(SrvLookup, SilentServersAreAskedAgainForTwiceTheTime) {
  Transcript run(2);
  EXPECT_EQ(run.next(0s), "0 udp 1000");
  run.plan().on_silence();
  EXPECT_EQ(run.next(1s), "1 udp 2000");
  run.plan().on_failure("Connection refused");
  EXPECT_EQ(run.next(1s), "0 udp 3000");
  run.plan().on_silence();
  EXPECT_EQ(run.next(3s), "1 udp 5000");
  run.plan().on_silence();
  EXPECT_EQ(run.next(5s), "0 udp 9000");
}

TEST(SrvLookup, NoAttemptOutlastsTheDeadline) {
  Transcript run(1, 2'500ms);
  EXPECT_EQ(run.next(0s), "0 udp 1000");
  run.plan().on_silence();
  EXPECT_EQ(run.next(1s), "0 udp 2500");
  run.plan().on_silence();
  EXPECT_EQ(run.next(2'500ms), "over");
  const Error error = run.error();
  EXPECT_EQ(error.outcome, Outcome::unknown);
  EXPECT_EQ(error.reason, Reason::timed_out);
  EXPECT_EQ(error.text,
            "no name server has answered in time; before that: the name server did not answer");
}

TEST(SrvLookup, ADeadlineThatHasPassedAsksNobody) {
  Transcript run(1, 5s);
  EXPECT_EQ(run.next(5s), "over");
  EXPECT_EQ(run.error().text, "no name server has answered in time");
}

TEST(SrvLookup, ANameThatIsNotThereOrHasNoRecordEndsItAtOnce) {
  Transcript gone(3);
  EXPECT_EQ(gone.next(), "0 udp 1000");
  gone.answer(ResponseCode::no_such_name);
  EXPECT_EQ(gone.error().text, "there is no such name");
  Transcript empty(3);
  EXPECT_EQ(empty.next(), "0 udp 1000");
  empty.answer(ResponseCode::no_error);
  const Error error = empty.error();
  EXPECT_EQ(error.text, "the name has no SRV record");
  EXPECT_EQ(error.outcome, Outcome::refused);
}

TEST(SrvLookup, WhenAllServersFailTheLastOnesWordsCount) {
  Transcript run(4);
  EXPECT_EQ(run.next(), "0 udp 1000");
  run.plan().on_failure("Connection refused");
  EXPECT_EQ(run.next(), "1 udp 1000");
  run.plan().on_malformed();
  EXPECT_EQ(run.next(), "2 udp 1000");
  run.answer(ResponseCode::refused);
  EXPECT_EQ(run.next(), "3 udp 1000");
  run.answer(ResponseCode::server_failure);
  const Error error = run.error();
  EXPECT_EQ(error.outcome, Outcome::refused);
  EXPECT_EQ(error.text, "the name server answers: server failure");
}

TEST(SrvLookup, EachFailureHasItsOutcome) {
  Transcript unreachable(1);
  EXPECT_EQ(unreachable.next(), "0 udp 1000");
  unreachable.plan().on_failure("Connection refused");
  EXPECT_EQ(unreachable.error(),
            (Error{.outcome = Outcome::not_sent,
                   .reason = Reason::connect_failed,
                   .node = "",
                   .text = "the name server cannot be asked: Connection refused"}));
  Transcript broken(1);
  EXPECT_EQ(broken.next(), "0 udp 1000");
  broken.plan().on_malformed();
  EXPECT_EQ(broken.error().reason, Reason::protocol_error);
  Transcript large(1);
  EXPECT_EQ(large.next(), "0 udp 1000");
  large.plan().on_answer({.truncated = true});
  EXPECT_EQ(large.next(), "0 tcp 1000");
  large.plan().on_answer({.truncated = true});
  EXPECT_EQ(large.error().text, "the answer does not fit into a message of TCP");
}

}  // namespace
}  // namespace sheaf::discovery::dns
