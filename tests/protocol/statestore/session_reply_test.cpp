#include <gtest/gtest.h>

#include "tests/protocol/statestore/session_harness.h"

namespace sheaf::protocol::statestore {
namespace {

std::string stamp(std::chrono::milliseconds wall, std::string_view node) {
  return std::string(TimestampText({static_cast<std::uint64_t>(wall.count()), 0, node}).view());
}

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;
using mqtt5::ReasonCode;

// Submits the operation, answers it, and returns the event.
Seen answer(Wire& wire, const Operation& operation, const ReplyScript& script) {
  wire.submit(operation);
  const auto requests = wire.take_requests();
  if (requests.size() != 1) return {};
  wire.feed(puback(requests[0].packet_id) + reply_bytes(requests[0].correlation, script));
  return wire.next();
}
Seen answer(const Operation& operation, const ReplyScript& script) {
  Wire wire;
  wire.handshake();
  return answer(wire, operation, script);
}
Operation remove(std::string_view key) {
  Operation operation = get(key);
  operation.verb = Verb::remove;
  return operation;
}
Operation remove_if(std::string_view key, std::string_view value) {
  Operation operation = remove(key);
  operation.condition = Condition::if_value;
  operation.value = value;
  return operation;
}
Operation question(Verb verb) {
  Operation operation;
  operation.verb = verb;
  return operation;
}

TEST(StoreSessionReply, GetFindsAValueWithItsVersion) {
  const std::string value("a\0\r\nb", 5);
  const Seen seen = answer(get("key"), {"$5\r\n" + value + "\r\n"});
  EXPECT_EQ(seen.kind, Event::Kind::reply);
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_EQ(seen.value, value);
  EXPECT_EQ(seen.version, "001696374425000:00001:StateStore");
}

TEST(StoreSessionReply, EachAnswerBecomesItsStatus) {
  EXPECT_EQ(answer(get("k"), {"$0\r\n\r\n"}).status, Status::done);
  EXPECT_EQ(answer(get("k"), {"$-1\r\n"}).status, Status::absent);
  EXPECT_EQ(answer(set("k", "v"), {"+OK\r\n"}).status, Status::done);
  EXPECT_EQ(answer(set("k", "v"), {":-1\r\n"}).status, Status::not_stored);
  EXPECT_EQ(answer(set("k", "v"), {"-1\r\n"}).status, Status::not_stored);
  EXPECT_EQ(answer(remove("k"), {":1\r\n"}).status, Status::done);
  EXPECT_EQ(answer(remove("k"), {":0\r\n"}).status, Status::absent);
  EXPECT_EQ(answer(remove_if("k", "v"), {":1\r\n"}).status, Status::done);
  EXPECT_EQ(answer(remove_if("k", "v"), {":0\r\n"}).status, Status::absent);
  EXPECT_EQ(answer(remove_if("k", "v"), {":-1\r\n"}).status, Status::not_stored);
  EXPECT_EQ(answer(question(Verb::probe), {"$-1\r\n"}).status, Status::done);
  EXPECT_EQ(answer(question(Verb::probe), {"$1\r\nx\r\n"}).status, Status::done);
}

TEST(StoreSessionReply, ClockReturnsTheStoresTimeAndLeavesOursAlone) {
  Wire wire;
  wire.handshake();
  ReplyScript script{"+OK\r\n"};
  script.timestamp = "001796374425123:00000:StateStore";  // three years ahead
  const Seen seen = answer(wire, question(Verb::clock), script);
  EXPECT_EQ(seen.status, Status::done);
  EXPECT_EQ(seen.server_wall, 1'796'374'425'123ms);
  EXPECT_EQ(wire.clock.last().wall, 0U);
  EXPECT_EQ(wire.session.counters().bad_timestamps, 0U);
  for (const std::string_view bad : {"", "noon", "18446744073709551615:0:StateStore"}) {
    script.timestamp = bad;
    EXPECT_FALSE(answer(wire, question(Verb::clock), script).server_wall) << bad;
  }
  EXPECT_EQ(wire.session.counters().bad_timestamps, 2U);
}

TEST(StoreSessionReply, ErrorOfTheStoreIsRefusedWithReasonAndItsWords) {
  const Seen stale =
      answer(set("k", "v"), {"-ERR the request fencing token is a lower version than the fencing "
                             "token protecting the resource\r\n"});
  EXPECT_EQ(stale.status, Status::refused);
  EXPECT_EQ(stale.reason, Reason::fencing_stale);
  EXPECT_EQ(stale.text,
            "the request fencing token is a lower version than the fencing token protecting the "
            "resource");
  const Seen odd = answer(get("k"), {"-ERR: the moon is full"});
  EXPECT_EQ(odd.reason, Reason::other);
  EXPECT_EQ(odd.text, "the moon is full");
}

TEST(StoreSessionReply, AStoreThatRefusesThisClientAProbeIsThere) {
  for (const char* text : {"-ERR not authorized\r\n", "-ERR the quota has been exceeded\r\n",
                           "-ERR the quota has been exceeded: at most 5 requests a second\r\n",
                           "-ERR the request timestamp is too far in the future\r\n",
                           "-ERR the store is read-only\r\n", "-ERR the moon is full\r\n"}) {
    EXPECT_EQ(answer(question(Verb::probe), {text}).status, Status::done) << text;
  }
  for (const char* text : {"-ERR unknown command\r\n", "-ERR syntax error\r\n",
                           "-ERR wrong number of arguments\r\n"}) {
    EXPECT_EQ(answer(question(Verb::probe), {text}).status, Status::refused)
        << "a store knows GET: " << text;
  }
}

TEST(StoreSessionReply, ClockSkewRefusedByTheStoreResetsOurClock) {
  Wire wire;
  wire.handshake();
  ASSERT_TRUE(wire.clock.observe({1'696'374'425'000 + 50'000, 7, "Other"}, 1'696'374'425'000ms));
  const Seen seen = answer(wire, set("k", "v"),
                           {"-ERR the request timestamp is too far in the future; ensure that the "
                            "client and broker system clocks are synchronized\r\n"});
  EXPECT_EQ(seen.reason, Reason::clock_skew);
  wire.submit(get("k"));
  EXPECT_EQ(wire.take_requests().at(0).timestamp, stamp(wire.now().wall, "client-node"));
}

TEST(StoreSessionReply, StatusDecidesWhetherThePayloadIsRead) {
  const auto with_status = [](std::string status, std::string message) {
    ReplyScript script{"$1\r\nx\r\n"};
    script.status = std::move(status);
    script.message = std::move(message);
    return answer(get("k"), script);
  };
  EXPECT_EQ(with_status("", "").value, "x");
  EXPECT_EQ(with_status("200", "").value, "x");
  EXPECT_EQ(with_status("204", "").value, "x");
  const Seen refused = with_status("503", "clock\ndrift");
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_EQ(refused.text, "clock\ndrift");
  EXPECT_EQ(refused.value, "");
  EXPECT_EQ(with_status("418", "").status, Status::refused);
}

TEST(StoreSessionReply, UnusableTimestampCostsTheVersionOnly) {
  Wire wire;
  wire.handshake();
  const auto version = [&wire](std::string timestamp) {
    ReplyScript script{"$1\r\nx\r\n"};
    script.timestamp = std::move(timestamp);
    const Seen seen = answer(wire, get("k"), script);
    EXPECT_EQ(seen.value, "x");
    return seen.version;
  };
  // The timestamp of a clock that is this far ahead when the answer arrives.
  const auto ahead_by = [&wire](std::chrono::milliseconds time) {
    return stamp(wire.now().wall + test::latency + time, "StateStore");
  };
  EXPECT_EQ(version("yesterday"), "");
  EXPECT_EQ(version(ahead_by(60s + 1ms)), "");
  EXPECT_EQ(wire.session.counters().bad_timestamps, 2U);
  EXPECT_LT(wire.clock.last().wall, 1'696'374'426'000U);  // not dragged
  EXPECT_EQ(version(""), "");
  EXPECT_EQ(version("1696374425000:0:StateStore"), "1696374425000:0:StateStore");  // as received
  EXPECT_EQ(wire.session.counters().bad_timestamps, 2U);
  const std::string nearly = ahead_by(59s);
  EXPECT_EQ(version(nearly), nearly);
  EXPECT_GE(wire.clock.last().wall, parse_timestamp(nearly)->wall);  // dragged, as it should be
  const std::string good = ahead_by(60s);
  EXPECT_EQ(version(good), good);
}

TEST(StoreSessionReply, PayloadThatIsNoAnswerEndsTheConnection) {
  Wire wire;
  wire.handshake();
  const Ticket first = wire.submit(get("first"));
  const Ticket second = wire.submit(get("second"));
  const auto requests = wire.take_requests();
  wire.submit(get("third"));
  wire.feed(reply_bytes(requests[0].correlation, {"+OK\r\n"}));
  EXPECT_EQ(wire.take(), disconnect(ReasonCode::payload_format_invalid));
  Seen seen = wire.next();
  EXPECT_EQ(seen.kind, Event::Kind::failed);
  EXPECT_EQ(seen.ticket, first);
  EXPECT_EQ(seen.sent, Sent::maybe);
  seen = wire.next();
  EXPECT_EQ(seen.ticket, second);
  EXPECT_EQ(seen.sent, Sent::maybe);
  seen = wire.next();
  EXPECT_EQ(seen.kind, Event::Kind::failed);
  EXPECT_EQ(seen.sent, Sent::no);
  EXPECT_EQ(wire.next().kind, Event::Kind::closed);
  EXPECT_EQ(wire.session.close_reason().reason, Reason::protocol_error);
}

// ---- pairing

TEST(StoreSessionPairing, SwappedRepliesReachTheirOwnRequests) {
  Wire wire;
  wire.handshake();
  const Ticket a = wire.submit(get("a"));
  const Ticket b = wire.submit(get("b"));
  const auto requests = wire.take_requests();
  wire.feed(reply_bytes(requests[1].correlation, {"$1\r\nB\r\n"}) +
            reply_bytes(requests[0].correlation, {"$1\r\nA\r\n"}));
  Seen seen = wire.next();
  EXPECT_EQ(seen.ticket, b);
  EXPECT_EQ(seen.value, "B");
  seen = wire.next();
  EXPECT_EQ(seen.ticket, a);
  EXPECT_EQ(seen.value, "A");
}

TEST(StoreSessionPairing, SecondCopyOfAReplyIsAcknowledgedAndDropped) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  const auto requests = wire.take_requests();
  ReplyScript again{"$1\r\nA\r\n"};
  again.packet_id = 2;
  wire.feed(reply_bytes(requests[0].correlation, {"$1\r\nA\r\n"}) +
            reply_bytes(requests[0].correlation, again));
  EXPECT_EQ(wire.next().value, "A");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1U);
  wire.submit(get("b"));
  EXPECT_TRUE(wire.take().ends_with(puback(1) + puback(2)));
}

TEST(StoreSessionPairing, ReplyMayComeBeforeThePuback) {
  Wire wire;
  wire.handshake();
  const Ticket ticket = wire.submit(get("a"));
  const auto requests = wire.take_requests();
  wire.feed(reply_bytes(requests[0].correlation, {"$1\r\nA\r\n"}));
  EXPECT_EQ(wire.next().ticket, ticket);
  EXPECT_EQ(wire.session.room(), 511U);
  wire.feed(puback(requests[0].packet_id, ReasonCode::no_matching_subscribers));
  EXPECT_EQ(wire.session.room(), 512U);
  EXPECT_TRUE(wire.events.empty());
}

TEST(StoreSessionPairing, PacketIdentifierIsNotReusedBeforeItsPuback) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  const SeenRequest first = wire.take_requests().at(0);
  wire.feed(reply_bytes(first.correlation, {"$-1\r\n"}));
  wire.submit(get("b"));
  EXPECT_NE(wire.take_requests().at(0).packet_id, first.packet_id);
  wire.feed(puback(first.packet_id));
  wire.submit(get("c"));
  EXPECT_EQ(wire.take_requests().at(0).packet_id, first.packet_id);
}

TEST(StoreSessionPairing, WhatDoesNotPairInEveryByteIsDropped) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  const std::string token = wire.take_requests().at(0).correlation;
  ReplyScript elsewhere{"$1\r\nX\r\n"};
  elsewhere.topic = "clients/sheaf-1/services/other/response";
  wire.feed(reply_bytes(token, elsewhere));
  wire.feed(reply_bytes(token.substr(0, 15), {"$1\r\nX\r\n"}));
  wire.feed(reply_bytes(token + "x", {"$1\r\nX\r\n"}));
  wire.feed(reply_bytes("", {"$1\r\nX\r\n"}));
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string other = token;
    other[i] = static_cast<char>(other[i] ^ 1);
    wire.feed(reply_bytes(other, {"$1\r\nX\r\n"}));
  }
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 20U);
  wire.feed(reply_bytes(token, {"$1\r\nA\r\n"}));
  EXPECT_EQ(wire.next().value, "A");
}

TEST(StoreSessionPairing, ReplyToARequestThatHasNotLeftWholeIsAProtocolError) {
  for (const std::size_t written : {std::size_t{0}, std::size_t{30'000}}) {
    Wire wire;
    wire.handshake();
    const std::string value(50'000, 'v');
    wire.submit(set("key", value));
    std::string bytes;
    for (const Bytes part : wire.session.poll_output()) bytes += as_text(part);
    wire.take(written);
    const SeenRequest request = Wire::requests_in(bytes).at(0);
    wire.feed(reply_bytes(request.correlation, {"+OK\r\n"}));
    const Seen seen = wire.next();
    EXPECT_EQ(seen.kind, Event::Kind::failed);
    EXPECT_EQ(seen.sent, Sent::no);
    EXPECT_EQ(wire.session.close_reason().text,
              "the server broke the protocol: reply to a request that has not been sent");
  }
}

TEST(StoreSessionPairing, ThousandsOfRequestsInAnyOrderGetTheirOwnAnswers) {
  Wire wire;
  wire.handshake();
  Random random(7);
  struct Open {
    Ticket ticket;
    std::string value;
    SeenRequest request;
  };
  std::vector<Open> open;
  int answered = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (wire.session.room() > 0 && random.below(2) == 0) {
      const std::string key = "key" + std::to_string(round);
      const Ticket ticket = wire.submit(get(key));
      open.push_back({ticket, key, wire.take_requests().at(0)});
    } else if (!open.empty()) {
      std::swap(open[random.below(open.size())], open.back());
      const Open one = std::move(open.back());
      open.pop_back();
      const std::string bulk = "$" + std::to_string(one.value.size()) + "\r\n" + one.value + "\r\n";
      const std::string reply = reply_bytes(one.request.correlation, {bulk});
      const std::string ack = puback(one.request.packet_id);
      wire.feed(random.below(2) == 0 ? reply + ack : ack + reply);
      const Seen seen = wire.next();
      ASSERT_EQ(seen.ticket, one.ticket);
      ASSERT_EQ(seen.value, one.value);
      ++answered;
    }
    ASSERT_EQ(wire.session.in_flight(), open.size());
  }
  EXPECT_GT(answered, 5'000);
  EXPECT_TRUE(wire.events.empty());
}

// ---- PUBACK that refuses

TEST(StoreSessionPuback, RefusalEndsItsRequestWithAReason) {
  const std::pair<ReasonCode, Reason> cases[] = {
      {ReasonCode::not_authorized, Reason::not_authorized},
      {ReasonCode::quota_exceeded, Reason::quota},
      {ReasonCode::packet_too_large, Reason::too_large},
      {ReasonCode::payload_format_invalid, Reason::other},
      {ReasonCode::unspecified_error, Reason::other}};
  for (const auto& [code, reason] : cases) {
    Wire wire;
    wire.handshake();
    const Ticket ticket = wire.submit(get("a"));
    const SeenRequest request = wire.take_requests().at(0);
    wire.feed(puback(request.packet_id, code));
    const Seen seen = wire.next();
    EXPECT_EQ(seen.ticket, ticket);
    EXPECT_EQ(seen.status, Status::refused);
    EXPECT_EQ(seen.reason, reason);
    EXPECT_EQ(seen.text, to_string(code));
    EXPECT_EQ(wire.session.room(), 512U);
    wire.feed(reply_bytes(request.correlation, {"$1\r\nA\r\n"}));
    EXPECT_TRUE(wire.events.empty());
  }
}

TEST(StoreSessionPuback, ReasonStringIsTheServersOwnWords) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  mqtt5::Puback refused{wire.take_requests().at(0).packet_id, ReasonCode::not_authorized, {}};
  const std::string raw = properties_of(
      [](PropertyWriter& writer) { writer.text(PropertyId::reason_string, "not for you"); });
  refused.properties.raw = raw;
  wire.feed(encoded(refused));
  EXPECT_EQ(wire.next().text, "not for you");
}

TEST(StoreSessionPuback, AfterAReplyOrACancelARefusalSaysNothing) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  const Ticket b = wire.submit(get("b"));
  const auto requests = wire.take_requests();
  wire.feed(reply_bytes(requests[0].correlation, {"$1\r\nA\r\n"}));
  wire.session.cancel(b, wire.now());
  wire.next();
  for (const SeenRequest& request : requests) {
    wire.feed(puback(request.packet_id, ReasonCode::quota_exceeded));
  }
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.room(), 512U);
}

TEST(StoreSessionPuback, ForARequestThatHasNotLeftIsAProtocolError) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  wire.feed(puback(1));
  EXPECT_EQ(wire.session.close_reason().text,
            "the server broke the protocol: PUBACK for a message that was not sent");
  EXPECT_EQ(wire.next().sent, Sent::no);
}

TEST(StoreSessionPuback, DoubledOrOfAnUnknownPacketIsDroppedAndCounted) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  const SeenRequest request = wire.take_requests().at(0);
  wire.feed(puback(request.packet_id) + puback(request.packet_id) + puback(999));
  EXPECT_EQ(wire.session.counters().late_replies, 2U);
  wire.feed(reply_bytes(request.correlation, {"$1\r\nA\r\n"}));
  EXPECT_EQ(wire.next().value, "A");
  EXPECT_EQ(wire.session.room(), 512U);
}

// ---- the session's PUBACKs

TEST(StoreSessionAck, TravelsWithTheNextRequest) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  const SeenRequest request = wire.take_requests().at(0);
  wire.feed(reply_bytes(request.correlation, {"$-1\r\n"}));
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed + 20ms);
  wire.submit(get("b"));
  const std::string bytes = wire.take();
  EXPECT_TRUE(bytes.ends_with(puback(1)));
  EXPECT_EQ(Wire::requests_in(bytes).size(), 1U);
}

TEST(StoreSessionAck, LeavesAloneWhenNoRequestFollows) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  wire.feed(reply_bytes(wire.take_requests().at(0).correlation, {"$-1\r\n"}));
  wire.elapsed += 20ms;
  wire.session.on_deadline(wire.now());
  EXPECT_EQ(wire.take(), puback(1));
}

TEST(StoreSessionAck, OfSeveralTheFirstDecidesWhenTheyLeave) {
  Wire wire;
  wire.handshake();
  const Deadline first = wire.elapsed;
  for (const auto after : {0ms, 10ms, 9ms}) {
    wire.elapsed += after;
    wire.feed(reply_bytes("0123456789abcdef", {"+OK\r\n"}));
    EXPECT_EQ(wire.session.poll_deadline(), first + 20ms);
  }
}

TEST(StoreSessionAck, LeavesAtOnceWhileOtherRepliesAreAwaited) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  wire.submit(get("b"));
  wire.feed(reply_bytes(wire.take_requests().at(0).correlation, {"$-1\r\n"}));
  EXPECT_EQ(wire.take(), puback(1));  // the server's window may be one
}

TEST(StoreSessionAck, FloodOfMessagesWithoutRoomForTheirAcksEndsTheConnection) {
  Wire wire;
  wire.handshake();
  const std::string message = reply_bytes("0123456789abcdef", {"+OK\r\n"});
  std::string batch;
  for (int i = 0; i < 100; ++i) batch += message;
  for (int i = 0; i < 2'000 && !wire.session.closed(); ++i) {
    wire.feed(batch);
    wire.session.poll_output();  // and the kernel takes nothing
  }
  EXPECT_EQ(wire.session.close_reason().text,
            "the server broke the protocol: more messages than Receive Maximum allows");
  EXPECT_LT(wire.session.output_capacity(), std::size_t{2} << 20);
}

TEST(StoreSessionAck, FloodThatIsAcknowledgedGoesOn) {
  Wire wire;
  wire.handshake();
  const std::string message = reply_bytes("0123456789abcdef", {"+OK\r\n"});
  std::string batch;
  for (int i = 0; i < 100; ++i) batch += message;
  for (int i = 0; i < 3'000; ++i) {
    wire.feed(batch);
    wire.take(390);  // never quite all
    wire.take(i % 100 == 0 ? 4'000 : 0);
  }
  EXPECT_FALSE(wire.session.closed());
  EXPECT_EQ(wire.session.counters().late_replies, 300'000U);
}

TEST(StoreSessionAck, MessageOfQosZeroNeedsNone) {
  Wire wire;
  wire.handshake();
  wire.submit(get("a"));
  wire.submit(get("b"));
  ReplyScript script{"$1\r\nA\r\n"};
  script.qos = 0;
  wire.feed(reply_bytes(wire.take_requests().at(0).correlation, script));
  EXPECT_EQ(wire.next().value, "A");
  EXPECT_EQ(wire.take(), "");
}

// ---- values above the limit

TEST(StoreSessionLimit, LargestValueIsTakenAndOneByteMoreIsRefusedAlone) {
  for (const std::size_t size : {std::size_t{100'000}, std::size_t{100'001}}) {
    const std::string bulk = "$" + std::to_string(size) + "\r\n" + std::string(size, 'v') + "\r\n";
    const Seen seen = answer(get("k"), {bulk});
    EXPECT_EQ(seen.status, size == 100'000 ? Status::done : Status::refused);
    EXPECT_EQ(seen.value.size(), size == 100'000 ? size : 0);
    if (size > 100'000) {
      EXPECT_EQ(seen.reason, Reason::too_large);
      EXPECT_EQ(seen.text, "the value is above value_limit");
    }
  }
}

TEST(StoreSessionLimit, HugeValuePassesByWithoutBeingStored) {
  for (const std::size_t step : {std::size_t{1'000}, std::size_t{65'536}}) {
    Wire wire;
    wire.handshake();
    const Ticket huge = wire.submit(get("huge"));
    const Ticket small = wire.submit(get("small"));
    const auto requests = wire.take_requests();
    const std::size_t size = std::size_t{8} << 20;
    const std::string bulk = "$" + std::to_string(size) + "\r\n" + std::string(size, 'v') + "\r\n";
    const std::string bytes = reply_bytes(requests[0].correlation, {bulk});
    wire.feed(bytes.substr(0, 2'000), step);
    EXPECT_EQ(wire.next().ticket, huge);  // as soon as its head is there
    EXPECT_EQ(wire.take(), "");           // but it is not acknowledged before its end
    wire.feed(bytes.substr(2'000), step);
    EXPECT_EQ(wire.take(), puback(1));
    EXPECT_LE(wire.session.input_capacity(), 256U * 1024);
    wire.feed(reply_bytes(requests[1].correlation, {"$1\r\nS\r\n"}));
    const Seen seen = wire.next();
    EXPECT_EQ(seen.ticket, small);
    EXPECT_EQ(seen.value, "S");
  }
}

TEST(StoreSessionLimit, InputMemoryFollowsWhatHasArrived) {
  StoreSessionOptions options = test_options();
  options.value_limit = 4u << 20;
  Wire wire(options);
  wire.handshake();
  wire.submit(get("key"));
  const std::size_t size = 3u << 20;
  const std::string bulk = "$" + std::to_string(size) + "\r\n" + std::string(size, 'v') + "\r\n";
  const std::string bytes = reply_bytes(wire.take_requests().at(0).correlation, {bulk});
  std::size_t fed = 0;
  while (fed < bytes.size()) {
    const std::size_t step = std::min<std::size_t>(10'000, bytes.size() - fed);
    wire.feed(std::string_view(bytes).substr(fed, step));
    fed += step;
    ASSERT_LE(wire.session.input_capacity(), 2 * fed + 64 * 1024);
  }
  EXPECT_EQ(wire.next().value.size(), size);
  wire.session.input_space();
  EXPECT_LE(wire.session.input_capacity(), 64U * 1024);  // given back
}

TEST(StoreSessionLimit, HeadThatIsTooLargeForAnyReplyEndsTheConnection) {
  Wire wire;
  wire.handshake();
  const std::string raw = properties_of([](PropertyWriter& writer) {
    for (int i = 0; i < 4; ++i) writer.user("name", std::string(60'000, 'x'));
  });
  mqtt5::Publish publish;
  publish.topic = "t";
  publish.properties.raw = raw;
  const std::string payload(200'000, 'p');
  publish.payload = payload;
  wire.feed(encoded(publish));
  EXPECT_EQ(wire.take(), disconnect(ReasonCode::packet_too_large));
}

TEST(StoreSessionLimit, HugePacketOfAnotherKindIsNotWaitedFor) {
  Wire wire;
  wire.handshake();
  wire.feed(std::string("\x40\xFF\xFF\xFF\x7F", 5));  // PUBACK of 256 MiB
  EXPECT_EQ(wire.take(), disconnect(ReasonCode::packet_too_large));
}

}  // namespace
}  // namespace sheaf::protocol::statestore
