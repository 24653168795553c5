#include "node/request_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "node/last_failure.h"
#include "node/node_records.h"
#include "tests/support/event_logs.h"

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

TEST(RequestQueue, HoldsAsManyAsItMayInTheOrderOfTheirStart) {
  std::array<Request, 4> requests;
  RequestQueue queue({10, 1'000'000, 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(requests[i]));
  EXPECT_FALSE(queue.push(requests[3]));
  EXPECT_FALSE(queue.contains(requests[3]));
  queue.remove(requests[1]);
  EXPECT_TRUE(queue.push(requests[3]));
  EXPECT_EQ(queue.pop(), &requests[0]);
  EXPECT_EQ(queue.front(), &requests[2]);
  EXPECT_EQ(queue.pop(), &requests[2]);
  EXPECT_EQ(queue.pop(), &requests[3]);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(RequestQueue, WhatIsGivenUpStaysButIsNotNextUntilTheQueueEnds) {
  std::array<Request, 3> requests;
  RequestQueue queue({10, 1'000'000, 2});
  EXPECT_TRUE(queue.push(requests[0]));
  EXPECT_TRUE(queue.push(requests[1]));
  queue.give_up(requests[0]);
  EXPECT_TRUE(queue.contains(requests[0]));
  EXPECT_TRUE(queue.gave_up(requests[0]));
  EXPECT_FALSE(queue.gave_up(requests[1]));
  EXPECT_TRUE(queue.contains_only(requests[1]));
  EXPECT_FALSE(queue.push(requests[2])) << "it counts";
  EXPECT_EQ(queue.pop(), &requests[1]);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue.given_up(), 1u);
  queue.restore();
  EXPECT_EQ(queue.pop(), &requests[0]);
  EXPECT_TRUE(queue.push(requests[0]));
  queue.give_up(requests[0]);
  queue.remove(requests[0]);
  EXPECT_FALSE(queue.contains(requests[0]));
  EXPECT_EQ(queue.given_up(), 0u);
}

TEST(RequestQueue, CountsKeysAndBytesOfWhatIsAdmitted) {
  RequestQueue queue({4, 2'000, 10});
  const std::array<std::string_view, 3> keys = {"a", "b", "c"};
  Request many;
  many.operation.keys = keys;
  Request one;
  Request big;
  const std::string value(1'000, 'v');
  big.operation.value = value;
  queue.admit(many);  // three keys, 768 bytes
  EXPECT_TRUE(queue.has_room_for(one));
  EXPECT_FALSE(queue.has_room_for(big)) << "1,256 bytes more";
  queue.admit(one);
  EXPECT_FALSE(queue.has_room_for(one)) << "a fifth key";
  queue.release(many);
  EXPECT_TRUE(queue.has_room_for(many));
  queue.narrow(1);
  EXPECT_FALSE(queue.has_room_for(one)) << "what is in a narrowed window stays";
  queue.release(one);
  EXPECT_TRUE(queue.has_room_for(one));
  EXPECT_TRUE(queue.has_room_for(many)) << "alone, whatever its width";
}

TEST(RequestQueue, CountsEveryWordOfACommandOnce) {
  RequestQueue queue({4, 2'000, 10});
  const std::string item(500, 'i');
  const std::array<std::string_view, 4> words = {"LPUSH", "k", item, item};
  Request command;
  command.operation.words = words;
  command.operation.key = words[1];
  Request one;
  one.operation.value = std::string_view(item).substr(0, 482);
  queue.admit(command);  // 1,262 bytes
  EXPECT_TRUE(queue.has_room_for(one)) << "738 bytes";
  one.operation.value = std::string_view(item).substr(0, 483);
  EXPECT_FALSE(queue.has_room_for(one));
  EXPECT_FALSE(queue.has_room_for(command));
  queue.release(command);
  queue.admit(one);
  EXPECT_FALSE(queue.has_room_for(command)) << "739 and 1,262 bytes";
}

TEST(LastFailure, IsTheTextOfTheLastEndThatWasNotOurs) {
  LastFailure failure;
  EXPECT_EQ(failure.text(), "requests timed out without any answer");
  EXPECT_EQ(failure.reason(), Reason::node_down);
  failure.note({Reason::authentication, "bad password", true});
  EXPECT_EQ(failure.text(), "bad password");
  EXPECT_EQ(failure.reason(), Reason::authentication);
  failure.note({Reason::closed, "we closed it"});
  EXPECT_EQ(failure.text(), "bad password");
  failure.note({Reason::connect_failed, "connection refused"});
  EXPECT_EQ(failure.text(), "connection refused");
  EXPECT_EQ(failure.reason(), Reason::node_down);
  failure.clear();
  EXPECT_EQ(failure.text(), "requests timed out without any answer");
}

TEST(NodeRecords, ARequestIsMeasuredFromItsStartEvenIfItWasNeverSubmitted) {
  const test::RecordedEvents log;
  Request request;
  request.started_at = 10s;
  request.operation.key = "k";
  socket::Completion completion;
  completion.outcome = Outcome::not_sent;
  completion.reason = Reason::timed_out;
  completion.text = "no connection yet";
  completion.node = "b1:1883";
  completion.now.mono = 10s + 50ms;
  const LogRecord record = record_of(request, completion, log);
  EXPECT_EQ(record.level, LogLevel::warning);
  EXPECT_EQ(record.node, "b1:1883");
  EXPECT_EQ(record.operation, "get");
  EXPECT_EQ(record.key, "<k>");
  EXPECT_EQ(record.outcome, Outcome::not_sent);
  EXPECT_EQ(record.text, "timed out: no connection yet");
  EXPECT_EQ(record.elapsed, 50ms);
}

TEST(NodeRecords, ARequestOfManyKeysNamesTheFirstAndCountsTheOthers) {
  const test::RecordedEvents log;
  const std::array<std::string_view, 3> keys = {"a", "b", "c"};
  Request request;
  request.operation.verb = protocol::Verb::get_many;
  request.operation.keys = keys;
  socket::Completion completion;
  completion.outcome = Outcome::unknown;
  completion.reason = Reason::timed_out;
  const LogRecord record = record_of(request, completion, log);
  EXPECT_EQ(record.level, LogLevel::error);
  EXPECT_EQ(record.key, "<a>");
  EXPECT_EQ(record.text, "timed out (and 2 other keys)");
}

TEST(NodeRecords, AReasonNeitherRepeatsNorContradictsTheText) {
  const test::RecordedEvents log;
  const Request request;
  const auto text_of = [&](Reason reason, std::string_view text) {
    socket::Completion completion;
    completion.outcome = Outcome::refused;
    completion.reason = reason;
    completion.text = text;
    return record_of(request, completion, log).text;
  };
  EXPECT_EQ(text_of(Reason::other, "ERR bad command"), "ERR bad command");
  EXPECT_EQ(text_of(Reason::other, ""), "no reason was given");
  EXPECT_EQ(text_of(Reason::syntax, "ERR syntax error"), "ERR syntax error");
  EXPECT_EQ(text_of(Reason::too_large, "the value has 9 bytes"), "the value has 9 bytes");
}

TEST(NodeRecords, OnlyANodeThatIsDownIsAnErrorAndSaysWhy) {
  const LogRecord down = record_of("b1:1883", NodeHealth::down, "connection refused");
  EXPECT_EQ(down.level, LogLevel::error);
  EXPECT_EQ(down.operation, "health");
  EXPECT_EQ(down.text, "down: connection refused");
  const LogRecord up = record_of("b1:1883", NodeHealth::up, "connection refused");
  EXPECT_EQ(up.level, LogLevel::info);
  EXPECT_EQ(up.text, "up");
}

}  // namespace
}  // namespace sheaf::node
