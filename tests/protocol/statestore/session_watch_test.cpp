// KEYNOTIFY and its effects: notifications in every spelling, and anything else that a server may
// send to a notification topic.

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::ReasonCode;
using Kind = protocol::Notification::Kind;

constexpr std::string_view clock_version = "001696374425000:00001:StateStore";

Operation question(Verb verb, std::string_view key) {
  Operation operation = get(key);
  operation.verb = verb;
  return operation;
}

// A store's publish to the watcher of `key`.
std::string notification(std::string_view key, std::string_view payload,
                         std::string_view timestamp = clock_version,
                         std::string_view client_id = "sheaf-1") {
  const std::string topic = notification_topic(client_id, key);
  const std::string raw = properties_of([&](mqtt5::PropertyWriter& writer) {
    if (!timestamp.empty()) writer.user("__ts", timestamp);
  });
  mqtt5::Publish publish;
  publish.qos = 1;
  publish.topic = topic;
  publish.packet_id = 9;
  publish.properties.raw = raw;
  publish.payload = payload;
  return encoded(publish);
}

Seen notified(std::string_view payload, std::string_view timestamp = clock_version) {
  Wire wire;
  wire.handshake();
  wire.feed(notification("key", payload, timestamp));
  EXPECT_EQ(wire.take(), "");  // its PUBACK waits for company
  EXPECT_FALSE(wire.session.closed());
  return wire.next();
}

Seen answer(Wire& wire, Verb verb, std::string_view payload) {
  wire.submit(question(verb, "SOMEKEY"));
  const auto requests = wire.take_requests();
  if (requests.size() != 1) return {};
  wire.feed(puback(requests[0].packet_id) +
            reply_bytes(requests[0].correlation, {std::string(payload)}));
  return wire.next();
}
Seen answer(Verb verb, std::string_view payload) {
  Wire wire;
  wire.handshake();
  return answer(wire, verb, payload);
}

TEST(StoreSessionWatch, WatchAndStopAreSpelledAsTheSdksDo) {
  Wire wire;
  wire.handshake();
  wire.submit(question(Verb::watch, "SOMEKEY"));
  wire.submit(question(Verb::unwatch, "SOMEKEY"));
  const auto requests = wire.take_requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].payload, "*2\r\n$9\r\nKEYNOTIFY\r\n$7\r\nSOMEKEY\r\n");
  EXPECT_EQ(requests[1].payload, "*3\r\n$9\r\nKEYNOTIFY\r\n$7\r\nSOMEKEY\r\n$4\r\nSTOP\r\n");
}

TEST(StoreSessionWatch, EachAnswerBecomesItsStatus) {
  EXPECT_EQ(answer(Verb::watch, "+OK\r\n").status, Status::done);
  EXPECT_EQ(answer(Verb::watch, ":0\r\n").status, Status::done);  // it was watched already
  EXPECT_EQ(answer(Verb::unwatch, "+OK\r\n").status, Status::done);
  EXPECT_EQ(answer(Verb::unwatch, ":0\r\n").status, Status::absent);
  const Seen refused = answer(Verb::watch, "-ERR: not authorized\r\n");
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.reason, Reason::not_authorized);
}

TEST(StoreSessionWatch, ARefusedSubscriptionToNotificationsRefusesWatchesOnly) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack());
  wire.take();
  wire.feed(suback(ReasonCode::granted_qos_1, ReasonCode::not_authorized));
  EXPECT_TRUE(wire.session.ready());
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  const LocalError refusal = wire.refusal(question(Verb::watch, "k"));
  EXPECT_EQ(refusal.outcome, Outcome::refused);
  EXPECT_EQ(refusal.reason, Reason::not_authorized);
  EXPECT_EQ(refusal.text, "the server refused the subscription to notifications");
  EXPECT_EQ(answer(wire, Verb::get, "$-1\r\n").status, Status::absent);
}

TEST(StoreSessionWatch, AKeyWhoseTopicWouldNotFitIsRefusedHere) {
  Wire wire;
  wire.handshake();
  const std::string key(32'730, 'k');
  EXPECT_EQ(wire.refusal(question(Verb::watch, key)).reason, Reason::too_large);
  EXPECT_EQ(wire.refusal(question(Verb::watch, "")).text, "the key is empty");
}

// The packet that the official .NET client accepts, byte for byte.
TEST(StoreSessionWatch, TheGoldenNotificationIsRead) {
  using namespace std::string_literals;
  StoreSessionOptions options = test_options();
  options.client_id = "client-id1";
  Wire wire(options);
  wire.elapsed += 98'850'352'382ms;  // to the time of that exchange
  wire.handshake();
  const std::string golden =
      "2\343\001\000mclients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/"
      "636C69656E742D696431/command/notify/534F4D454B4559\000\005D"
      "\003\000\030application/octet-stream&\000\004__ts\000 001795224777382:00000:StateStore"
      "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n"s;
  ASSERT_EQ(golden.size(), 230U);
  wire.feed(golden, 1);
  const Seen seen = wire.next();
  EXPECT_EQ(seen.kind, Event::Kind::notification);
  EXPECT_EQ(seen.change, Kind::set);
  EXPECT_EQ(seen.key, "SOMEKEY");
  EXPECT_EQ(seen.changed_to, "abc");
  EXPECT_EQ(seen.version, "001795224777382:00000:StateStore");
  wire.elapsed += 1s;
  wire.session.on_deadline(wire.now());
  EXPECT_TRUE(wire.take().starts_with(puback(5)));
}

TEST(StoreSessionWatch, EverySpellingIsUnderstood) {
  const Seen set = notified("*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$4\r\na\r\nb\r\n");
  EXPECT_EQ(set.change, Kind::set);
  EXPECT_EQ(set.changed_to, "a\r\nb");
  EXPECT_EQ(set.version, clock_version);
  const Seen empty = notified("*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nvalue\r\n$0\r\n\r\n");
  EXPECT_EQ(empty.changed_to, "");
  const Seen without_value = notified("*2\r\n$6\r\nnotify\r\n$3\r\nset\r\n");
  EXPECT_EQ(without_value.change, Kind::set);
  EXPECT_EQ(without_value.changed_to, std::nullopt);
  for (const std::string word : {"DELETE", "DEL", "EXPIRED", "delete"}) {
    const std::string size = std::to_string(word.size());
    const Seen gone = notified("*2\r\n$6\r\nNOTIFY\r\n$" + size + "\r\n" + word + "\r\n");
    EXPECT_EQ(gone.kind, Event::Kind::notification);
    EXPECT_EQ(gone.change, Kind::deleted) << word;
    EXPECT_EQ(gone.key, "key");
  }
}

TEST(StoreSessionWatch, WhatCannotBeReadIsAChangeAndCounted) {
  for (const std::string_view payload :
       {"", "*", "*2\r\n$6\r\nNOTIFY\r\n$6\r\nRENAME\r\n",
        "*3\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$1\r\na\r\n",
        "*3\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n$1\r\na\r\n", "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE",
        "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\nx", "+OK\r\n", "-ERR syntax error\r\n", "*-1\r\n",
        "*99999999999999999999\r\n",
        "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$9\r\na\r\n"}) {
    Wire wire;
    wire.handshake();
    wire.feed(notification("key", payload));
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::notification) << payload;
    EXPECT_EQ(seen.change, Kind::changed) << payload;
    EXPECT_EQ(wire.session.counters().bad_notifications, 1U);
    EXPECT_TRUE(wire.session.ready());
  }
}

TEST(StoreSessionWatch, AVersionThatCannotBeUsedIsLeftOut) {
  constexpr std::string_view payload = "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n";
  for (const std::string_view bad :
       {"", "soon", "1:2", "-1:0:x", "001696374485001:00000:StateStore"}) {  // a minute and 1 ms
    const Seen seen = notified(payload, bad);
    EXPECT_EQ(seen.kind, Event::Kind::notification);
    EXPECT_EQ(seen.version, "") << bad;
  }
  EXPECT_EQ(notified(payload, "1:2:x").version, "1:2:x");  // old is fine
}

TEST(StoreSessionWatch, ARequestAfterANotificationFromAClockThatIsAheadIsLaterThanIt) {
  constexpr std::string_view ahead = "001696374455000:00007:StateStore";  // by 30 s
  Wire wire;
  wire.handshake();
  wire.feed(notification("key", "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n", ahead));
  ASSERT_EQ(wire.next().version, ahead);
  wire.submit(set("key", "value"));
  const auto requests = wire.take_requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].timestamp, "001696374455000:00009:client-node") << "observed, then ticked";
}

TEST(StoreSessionWatch, NotificationsForOthersAreDroppedAndCounted) {
  Wire wire;
  wire.handshake();
  wire.feed(notification("key", "", clock_version, "sheaf-2"));
  mqtt5::Publish publish;
  publish.qos = 1;
  publish.packet_id = 4;
  for (const std::string& topic :
       {std::string(notification_root), std::string(notification_root) + "/",
        std::string(notification_root) + "/73686561662D31/command/notify",
        std::string(notification_root) + "/73686561662D31/command/notify/",
        std::string(notification_root) + "/73686561662D31/command/notify/6B6",
        std::string(notification_root) + "/73686561662D31/command/notify/6B/6B",
        std::string(notification_root) + "/sheaf-1/command/notify/6B",
        std::string(notification_root) + "x/73686561662D31/command/notify/6B"}) {
    publish.topic = topic;
    wire.feed(encoded(publish));
  }
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().bad_notifications, 9U);
  EXPECT_TRUE(wire.session.ready());
}

TEST(StoreSessionWatch, HexOfEitherCaseNamesTheKey) {
  Wire wire;
  wire.handshake();
  std::string bytes = notification(std::string("\x00\xAB\r\n", 4), "");
  bytes.replace(bytes.find("00AB0D0A"), 8, "00ab0d0A");
  wire.feed(bytes);
  EXPECT_EQ(wire.next().key, std::string("\x00\xAB\r\n", 4));
}

// The notification overtakes the answer to KEYNOTIFY and arrives among other replies.
TEST(StoreSessionWatch, NotificationsAndRepliesDoNotMixUp) {
  Wire wire;
  wire.handshake();
  const Ticket watch = wire.submit(question(Verb::watch, "key"));
  const Ticket read = wire.submit(get("key"));
  const auto requests = wire.take_requests();
  wire.feed(notification("key", "*2\r\n$6\r\nNOTIFY\r\n$6\r\nDELETE\r\n") +
            reply_bytes(requests[1].correlation, {"$1\r\nv\r\n"}) +
            reply_bytes(requests[0].correlation, {"+OK\r\n"}));
  EXPECT_EQ(wire.next().kind, Event::Kind::notification);
  const Seen first = wire.next();
  EXPECT_EQ(first.ticket, read);
  EXPECT_EQ(first.value, "v");
  EXPECT_EQ(wire.next().ticket, watch);
}

// A reply with a notification's topic pairs with no request.
TEST(StoreSessionWatch, TheCorrelationOfANotificationPairsWithNothing) {
  Wire wire;
  wire.handshake();
  wire.submit(get("key"));
  const auto requests = wire.take_requests();
  ReplyScript script{"$1\r\nv\r\n"};
  script.topic = notification_topic("sheaf-1", "key");
  wire.feed(reply_bytes(requests[0].correlation, script));
  EXPECT_EQ(wire.next().kind, Event::Kind::notification);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.in_flight(), 1U);
}

TEST(StoreSessionWatch, AChangeToAValueAboveTheLimitIsReportedWithoutTheValue) {
  StoreSessionOptions options = test_options();
  options.value_limit = 10;
  for (const std::size_t size : {11U, 1'000'000U}) {  // read whole, and skipped
    Wire wire(options);
    wire.handshake();
    std::string payload = "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$" +
                          std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
    wire.feed(notification("key", payload), 5'000);
    const Seen seen = wire.next();
    EXPECT_EQ(seen.change, Kind::set) << size;
    EXPECT_EQ(seen.key, "key");
    EXPECT_EQ(seen.changed_to, std::nullopt);
    EXPECT_EQ(seen.version, clock_version);
    EXPECT_EQ(answer(wire, Verb::get, "$-1\r\n").status, Status::absent);
  }
}

TEST(StoreSessionWatch, DamagedNotificationsNeverCrashNorPair) {
  const std::string good =
      notification("key", "*4\r\n$6\r\nNOTIFY\r\n$3\r\nSET\r\n$5\r\nVALUE\r\n$3\r\nabc\r\n");
  Random random(4711);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.u32());
    }
    Wire wire;
    wire.handshake();
    wire.submit(get("key"));
    wire.take();
    wire.feed(bytes);
    for (const Seen& seen : wire.events) {
      ASSERT_NE(seen.kind, Event::Kind::reply) << round;
      EXPECT_EQ(seen.kind == Event::Kind::notification, !seen.key.empty());
    }
  }
}

TEST(VersionOrder, IsThatOfNumbersThenNodes) {
  EXPECT_EQ(compare_versions("1:2:a", "000000000000001:00002:a"), VersionOrder::same);
  EXPECT_EQ(compare_versions("9:0:a", "10:0:a"), VersionOrder::older);
  EXPECT_EQ(compare_versions("10:1:a", "10:0:b"), VersionOrder::newer);
  EXPECT_EQ(compare_versions("10:1:a", "10:1:b"), VersionOrder::older);
  EXPECT_EQ(compare_versions("", "10:1:b"), VersionOrder::unknown);
  EXPECT_EQ(compare_versions("10:1:b", "tomorrow"), VersionOrder::unknown);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
