// Questions about the store itself: the topic, the answers, and stores that do not know them.

#include <gtest/gtest.h>

#include "protocol/statestore/inspection.h"
#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::ReasonCode;

constexpr const char* unknown =
    "the store does not answer questions about itself: only sheaf's own stores do, from 0.1.0 on";

Operation inspection(Verb verb) {
  Operation operation;
  operation.verb = verb;
  return operation;
}

// Submits it, and returns what the server reads.
SeenRequest ask(Wire& wire, Verb verb = Verb::stats) {
  wire.submit(inspection(verb));
  const auto requests = wire.take_requests();
  EXPECT_EQ(requests.size(), 1u);
  return requests.empty() ? SeenRequest{} : requests.front();
}

// Lets the session's next deadline come.
void wait_for_deadline(Wire& wire) {
  const auto due = wire.session.poll_deadline();
  ASSERT_TRUE(due.has_value());
  wire.elapsed = std::max(wire.elapsed, *due);
  wire.session.on_deadline(wire.now());
  wire.poll();
}

TEST(StoreSessionInspection, IsARequestToATopicOfItsOwn) {
  for (const auto& [verb, payload] : {std::pair(Verb::stats, "*1\r\n$5\r\nSTATS\r\n"),
                                      std::pair(Verb::server_version, "*1\r\n$7\r\nVERSION\r\n")}) {
    Wire wire;
    wire.handshake();
    const SeenRequest asked = ask(wire, verb);
    const auto frame = mqtt5::read_frame(asked.bytes).frame;
    const auto publish = mqtt5::Publish::parse(frame, asked.bytes);
    ASSERT_TRUE(publish.has_value());
    EXPECT_EQ(publish->topic, "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/sheaf/inspect");
    EXPECT_EQ(publish->qos, 1);
    EXPECT_EQ(asked.payload, payload);
    EXPECT_EQ(asked.response_topic, response_topic(ResponseTopicForm::rust, "sheaf-1"));
    EXPECT_EQ(asked.correlation.size(), Correlation::size);
  }
}

TEST(StoreSessionInspection, AnswersAreBulkStringsOrErrors) {
  Wire wire;
  wire.handshake();
  const SeenRequest first = ask(wire);
  wire.feed(puback(first.packet_id));
  wire.feed(reply_bytes(first.correlation, {.payload = "$7\r\nkeys 3\n\r\n", .timestamp = ""}));
  const Seen seen = wire.next();
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_EQ(seen.value, "keys 3\n");
  const SeenRequest second = ask(wire);
  wire.feed(reply_bytes(second.correlation, {.payload = "-ERR not authorized\r\n"}));
  EXPECT_EQ(wire.next().reason, Reason::not_authorized);
}

TEST(StoreSessionInspection, WithoutASubscriberItIsRefusedAfterHalfASecond) {
  Wire wire;
  wire.handshake();
  const SeenRequest asked = ask(wire);
  wire.feed(puback(asked.packet_id, ReasonCode::no_matching_subscribers));
  EXPECT_EQ(wire.session.poll_deadline(), wire.now().mono + 500ms);
  EXPECT_TRUE(wire.events.empty());
  wait_for_deadline(wire);
  const Seen seen = wire.next();
  EXPECT_EQ(seen.status, Status::refused);
  EXPECT_EQ(seen.reason, Reason::unknown_command);
  EXPECT_EQ(seen.text, unknown);
  EXPECT_TRUE(wire.session.ready());
  EXPECT_EQ(wire.session.in_flight(), 0u);
}

// A plugin without a sink: the broker says 0x10, and then the store answers.
TEST(StoreSessionInspection, AnAnswerCountsThoughNobodyIsSubscribed) {
  Wire wire;
  wire.handshake();
  const SeenRequest asked = ask(wire);
  wire.feed(puback(asked.packet_id, ReasonCode::no_matching_subscribers));
  wire.feed(reply_bytes(asked.correlation, {.payload = "$7\r\nkeys 3\n\r\n", .timestamp = ""}));
  EXPECT_EQ(wire.next().value, "keys 3\n");
  wait_for_deadline(wire);
  EXPECT_TRUE(wire.events.empty());
}

TEST(StoreSessionInspection, SeveralAreRefusedEachInItsTime) {
  Wire wire;
  wire.handshake();
  const SeenRequest first = ask(wire);
  const SeenRequest second = ask(wire);
  wire.feed(puback(first.packet_id, ReasonCode::no_matching_subscribers));
  wire.elapsed += 300ms;
  wire.feed(puback(second.packet_id, ReasonCode::no_matching_subscribers));
  wait_for_deadline(wire);
  EXPECT_EQ(wire.events.size(), 1u);
  wait_for_deadline(wire);
  EXPECT_EQ(wire.events.size(), 2u);
}

TEST(StoreSessionInspection, ARefusalByTheBrokerEndsItAtOnce) {
  Wire wire;
  wire.handshake();
  const SeenRequest asked = ask(wire);
  wire.feed(puback(asked.packet_id, ReasonCode::not_authorized));
  EXPECT_EQ(wire.next().reason, Reason::not_authorized);
}

// Requests are answered by stores that need no subscription, whatever the broker says.
TEST(StoreSessionInspection, RequestsDoNotEndWithoutASubscriber) {
  Wire wire;
  wire.handshake();
  wire.submit(get("key"));
  const auto requests = wire.take_requests();
  wire.feed(puback(requests.at(0).packet_id, ReasonCode::no_matching_subscribers));
  wire.elapsed += 1s;
  wire.session.on_deadline(wire.now());
  wire.poll();
  EXPECT_TRUE(wire.events.empty());
}

TEST(StoreSessionInspection, ThereAreNoGroups) {
  Wire wire;
  wire.handshake();
  Operation operation = inspection(Verb::stats);
  operation.key = "items";
  EXPECT_EQ(wire.refusal(operation).text, "the statistics of the state store have no groups");
}

TEST(Inspections, AreParsedAsTheyAreWritten) {
  const auto parsed = [](std::string_view payload) { return parse_inspection(payload); };
  std::string text;
  ByteWriter out(text);
  StatsInspection{}.encode(out);
  EXPECT_EQ(parsed(text), Inspection(StatsInspection{}));
  text.clear();
  VersionInspection{}.encode(out);
  EXPECT_EQ(parsed(text), Inspection(VersionInspection{}));
  const KeysInspection keys{7, "1.a,2.b", "x *"};
  text.clear();
  keys.encode(out);
  EXPECT_EQ(parsed(text), Inspection(keys));
  EXPECT_EQ(inspection_of_group("keys 7 1.a,2.b x *"), Inspection(keys));
  text.clear();
  TtlInspection{"a key"}.encode(out);
  EXPECT_EQ(parsed(text), Inspection(TtlInspection{"a key"}));
  EXPECT_EQ(inspection_of_group("ttl a key"), Inspection(TtlInspection{"a key"}));
  EXPECT_EQ(inspection_of_group("keys x - *"), std::nullopt);
  EXPECT_EQ(parsed("*4\r\n$4\r\nKEYS\r\n$1\r\nx\r\n$1\r\n-\r\n$1\r\n*\r\n").error(),
            StoreError::syntax);
  EXPECT_EQ(parsed("*1\r\n$4\r\nKEYS\r\n").error(), StoreError::wrong_arguments);
  EXPECT_EQ(parsed("*1\r\n$3\r\nTTL\r\n").error(), StoreError::wrong_arguments);
  EXPECT_EQ(parsed("*1\r\n$5\r\nstats\r\n"), Inspection(StatsInspection{}));
  EXPECT_EQ(parsed("*2\r\n$5\r\nSTATS\r\n$1\r\na\r\n").error(), StoreError::wrong_arguments);
  EXPECT_EQ(parsed("*1\r\n$3\r\nGET\r\n").error(), StoreError::unknown_command);
  EXPECT_EQ(parsed("*0\r\n").error(), StoreError::syntax);
  EXPECT_EQ(parsed("*1\r\n$5\r\nSTATS").error(), StoreError::syntax);
  EXPECT_EQ(parsed("").error(), StoreError::syntax);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
