// One connection, as transcripts: bytes in, events and bytes out.

#include "store/server/server_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tests/store/server/wire.h"

namespace sheaf::store::server::test {
namespace {

using mqtt5::PacketType;
using mqtt5::PropertyId;
using mqtt5::ReasonCode;
using testing::ElementsAre;

// A session whose host accepts every client, acknowledges every publish with 0x00, and records the
// events.
struct Peer {
  explicit Peer(SessionLimits limits = {}) : session(limits, at(0)) {}

  Peer& send(std::string_view input, Now now = at(0), std::size_t piece = SIZE_MAX) {
    left = feed(session, input, now, piece, [&] { drain(); });
    drain();
    return *this;
  }
  void drain() {
    ServerEvent event;
    while (session.poll_event(event)) {
      if (event.kind == ServerEvent::Kind::connect) {
        events.push_back("connect " + std::string(event.connect.client_id));
        session.accept(event.connect.client_id.empty() ? "assigned" : "");
      } else if (event.kind == ServerEvent::Kind::authenticate) {
        const mqtt5::Properties& sent = event.authenticate.properties;
        events.push_back("token " + std::string(sent.authentication_data.value_or("none")));
        session.authenticated();
      } else if (event.kind == ServerEvent::Kind::publish) {
        events.push_back(std::string(event.publish.topic) + "=" +
                         std::string(event.publish.payload));
        if (event.publish.qos == 1) {
          session.acknowledge(event.publish.packet_id, ReasonCode::success);
        }
      } else {
        events.push_back("ended");
      }
    }
  }
  std::string output(Now now = at(0)) { return take(session, now); }
  std::vector<Packet> replies(Now now = at(0)) { return packets(output(now)); }
  ServerSession::Delivery deliver(std::uint8_t qos, std::string_view topic,
                                  std::string_view payload) {
    mqtt5::Publish message;
    message.qos = qos;
    message.topic = topic;
    message.payload = payload;
    return session.publish(message);
  }

  ServerSession session;
  std::vector<std::string> events;
  std::string_view left;
};

// A connected peer that has read its CONNACK.
struct Connected : Peer {
  explicit Connected(SessionLimits limits = {}, std::uint16_t keep_alive = 0,
                     std::string_view raw_properties = {})
      : Peer(limits) {
    send(connect("c", keep_alive, raw_properties));
    output();
    events.clear();
  }
};

ReasonCode disconnect_code(const std::vector<Packet>& all) {
  if (all.empty() || all.back().type() != PacketType::disconnect) return ReasonCode::success;
  return mqtt5::Disconnect::parse(all.back().frame, all.back().bytes)->code;
}

TEST(ServerSession, AcceptsTheConnectOfTheDotNetClientAndSendsItsLimits) {
  Peer peer;
  // docs/wire/statestore.md: Clean Start 0, keep-alive 60, session expiry 3600.
  peer.send(
      std::string_view("\020<\000\004MQTT\005\000\000<%\021\000\000\016\020&\000\016metriccategory"
                       "\000\raiosdk-dotnet\000\nclient-id1",
                       62));
  EXPECT_THAT(peer.events, ElementsAre("connect client-id1"));
  EXPECT_TRUE(peer.session.open());
  EXPECT_EQ(peer.session.client_id(), "client-id1");
  const auto replies = peer.replies();
  ASSERT_EQ(replies.size(), 1u);
  const auto connack = mqtt5::Connack::parse(replies[0].frame, replies[0].bytes);
  ASSERT_TRUE(connack);
  EXPECT_EQ(connack->code, ReasonCode::success);
  EXPECT_FALSE(connack->session_present);
  EXPECT_EQ(connack->properties.session_expiry, 0u);
  EXPECT_EQ(connack->properties.maximum_qos, 1);
  EXPECT_EQ(connack->properties.retain_available, false);
  EXPECT_EQ(connack->properties.maximum_packet_size, 64u << 20);
  EXPECT_EQ(connack->properties.subscription_identifier_available, false);
  EXPECT_EQ(connack->properties.shared_subscription_available, false);
  EXPECT_FALSE(connack->properties.assigned_client_id);
  EXPECT_EQ(peer.session.poll_deadline(), Deadline(std::chrono::seconds(90)));
}

TEST(ServerSession, SendsAClientWithoutNameItsAssignedName) {
  Peer peer;
  peer.send(connect(""));
  const auto replies = peer.replies();
  ASSERT_EQ(replies.size(), 1u);
  const auto connack = mqtt5::Connack::parse(replies[0].frame, replies[0].bytes);
  EXPECT_EQ(connack->properties.assigned_client_id, "assigned");
  EXPECT_FALSE(connack->properties.session_expiry);
  EXPECT_EQ(peer.session.client_id(), "assigned");
}

TEST(ServerSession, RefusesWithAReasonAndCloses) {
  ServerSession session({}, at(0));
  const std::string hello = connect("c");
  feed(session, hello, at(0), SIZE_MAX, [] {});
  ServerEvent event;
  ASSERT_TRUE(session.poll_event(event));
  session.refuse(ReasonCode::bad_user_name_or_password, "wrong user name or password");
  EXPECT_FALSE(session.closed());
  const auto replies = packets(take(session, at(0)));
  ASSERT_EQ(replies.size(), 1u);
  const auto connack = mqtt5::Connack::parse(replies[0].frame, replies[0].bytes);
  EXPECT_EQ(connack->code, ReasonCode::bad_user_name_or_password);
  EXPECT_EQ(connack->properties.reason_string, "wrong user name or password");
  EXPECT_TRUE(session.closed());
  EXPECT_FALSE(session.poll_event(event));  // no client was there, so none ended
}

TEST(ServerSession, GivesTheSameEventsAndBytesHoweverTheInputIsCut) {
  const std::string raw = properties([](auto& p) { p.text(PropertyId::response_topic, "r"); });
  const std::string input = connect("c", 10) + subscribe(1, {"a/#", "bad/#/x"}) +
                            publish(1, 7, "a/b", std::string(300, 'x'), raw) +
                            publish(0, 0, "a", "") + unsubscribe(2, {"a/#", "a/#"}) +
                            bytes(mqtt5::Pingreq{}) + bytes(mqtt5::Disconnect{});
  Peer whole;
  whole.send(input);
  const std::string expected = whole.output();
  EXPECT_THAT(whole.events,
              ElementsAre("connect c", "a/b=" + std::string(300, 'x'), "a=", "ended"));
  EXPECT_TRUE(whole.session.closed());
  for (std::size_t piece = 1; piece < input.size(); ++piece) {
    Peer cut;
    cut.send(input, at(0), piece);
    ASSERT_EQ(cut.events, whole.events) << piece;
    ASSERT_EQ(cut.output(), expected) << piece;
  }
}

TEST(ServerSession, AnswersSubscriptionsOneByOne) {
  Connected peer;
  const std::string raw = peer.send(subscribe(0x1234, {"a/+", "#/a", "$share/g/a", "b"})).output();
  EXPECT_EQ(raw, std::string("\x90\x07\x12\x34\x00\x01\x8F\x9E\x01", 9));
  EXPECT_EQ(peer.send(subscribe(5, {"a/+"}, 0)).output(), std::string("\x90\x04\0\5\0\0", 6));
  EXPECT_EQ(peer.send(subscribe(6, {"c"}, 2)).output(), std::string("\x90\x04\0\6\0\1", 6));
  EXPECT_EQ(peer.session.subscription("a/x"), 0);
  EXPECT_EQ(peer.session.subscription("b"), 1);
  EXPECT_EQ(peer.session.subscription("c"), 1);
  EXPECT_EQ(peer.session.subscription("d"), std::nullopt);
  EXPECT_EQ(peer.send(unsubscribe(7, {"b", "b", "d"})).output(),
            std::string("\xB0\x06\0\7\0\x00\x11\x11", 8));
  EXPECT_EQ(peer.session.subscription("b"), std::nullopt);
}

TEST(ServerSession, BoundsTheNumberOfSubscriptions) {
  SessionLimits limits;
  limits.max_subscriptions = 2;
  Connected peer(limits);
  EXPECT_EQ(peer.send(subscribe(1, {"a", "b", "c", "a"})).output(),
            std::string("\x90\x07\0\1\0\x01\x01\x97\x01", 9));
}

TEST(ServerSession, AnswersPingsAndAcknowledgesPublishes) {
  Connected peer;
  EXPECT_EQ(peer.send(bytes(mqtt5::Pingreq{})).output(), std::string("\xD0\0", 2));
  EXPECT_EQ(peer.send(publish(1, 0xABCD, "t", "p")).output(), "\x40\x02\xAB\xCD");
  EXPECT_EQ(peer.send(publish(0, 0, "t", "p")).output(), "");
  EXPECT_THAT(peer.events, ElementsAre("t=p", "t=p"));
}

TEST(ServerSession, NumbersItsDeliveriesWithinTheClientsReceiveMaximum) {
  Connected peer({}, 0, properties([](auto& p) { p.u16(PropertyId::receive_maximum, 2); }));
  for (const char* const payload : {"1", "2", "3", "4"}) {
    EXPECT_EQ(peer.deliver(1, "topic", payload), ServerSession::Delivery::queued);
  }
  EXPECT_EQ(peer.output(), publish(1, 1, "topic", "1") + publish(1, 2, "topic", "2"));
  EXPECT_EQ(peer.deliver(0, "topic", "zero"), ServerSession::Delivery::queued);
  EXPECT_EQ(peer.output(), publish(0, 0, "topic", "zero"));
  EXPECT_EQ(peer.send(puback(2)).output(), publish(1, 3, "topic", "3"));
  EXPECT_EQ(peer.deliver(1, "topic", "5"), ServerSession::Delivery::queued);
  EXPECT_EQ(peer.send(puback(1) + puback(3)).output(),
            publish(1, 4, "topic", "4") + publish(1, 5, "topic", "5"));
  EXPECT_EQ(peer.send(puback(4) + puback(5)).output(), "");
  EXPECT_TRUE(peer.session.open());
}

TEST(ServerSession, IgnoresAPubackForNothingAsBrokersDo) {
  Connected peer({}, 0, properties([](auto& p) { p.u16(PropertyId::receive_maximum, 1); }));
  EXPECT_EQ(peer.deliver(1, "topic", "1"), ServerSession::Delivery::queued);
  EXPECT_EQ(peer.deliver(1, "topic", "2"), ServerSession::Delivery::queued);
  EXPECT_EQ(peer.output(), publish(1, 1, "topic", "1"));
  EXPECT_EQ(peer.send(puback(9)).output(), "");
  EXPECT_TRUE(peer.session.open());
  EXPECT_EQ(peer.send(puback(1) + puback(1)).output(), publish(1, 2, "topic", "2"));
  EXPECT_TRUE(peer.session.open());
}

TEST(ServerSession, CutsOffAClientThatAcknowledgesNothing) {
  SessionLimits limits;
  limits.max_waiting = 3;
  Connected peer(limits, 0, properties([](auto& p) { p.u16(PropertyId::receive_maximum, 1); }));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(peer.deliver(1, "t", "p"), ServerSession::Delivery::queued);
  }
  EXPECT_EQ(peer.deliver(1, "t", "p"), ServerSession::Delivery::cut_off);
  EXPECT_EQ(disconnect_code(peer.replies()), ReasonCode::quota_exceeded);
  peer.drain();
  EXPECT_THAT(peer.events, ElementsAre("ended"));
  EXPECT_TRUE(peer.session.closed());
  EXPECT_EQ(peer.deliver(1, "t", "p"), ServerSession::Delivery::discarded);
}

TEST(ServerSession, CutsOffAClientThatDoesNotRead) {
  SessionLimits limits;
  limits.max_output = 10'000;
  Connected peer(limits);
  int taken = 0;
  while (peer.deliver(0, "t", std::string(1000, 'p')) == ServerSession::Delivery::queued) ++taken;
  EXPECT_EQ(taken, 10);
  EXPECT_EQ(disconnect_code(peer.replies()), ReasonCode::quota_exceeded);
}

TEST(ServerSession, ServesNoFurtherRequestsWhileItsAnswersAreNotRead) {
  SessionLimits limits;
  limits.pause_above = 100;
  Connected peer(limits);
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += bytes(mqtt5::Pingreq{});
  peer.send(pings);
  EXPECT_TRUE(peer.session.input_space().empty());
  EXPECT_LE(as_text(peer.session.poll_output()[0]).size(), 102u);
  std::size_t answered = 0;
  for (std::string part = peer.output(); !part.empty(); part = peer.output()) {
    answered += packets(part).size();
    peer.drain();
  }
  EXPECT_EQ(answered, 1000u);
  EXPECT_FALSE(peer.session.input_space().empty());
}

TEST(ServerSession, DiscardsWhatIsAboveTheClientsMaximumPacketSize) {
  Connected peer({}, 0, properties([](auto& p) { p.u32(PropertyId::maximum_packet_size, 50); }));
  const std::size_t overhead = publish(1, 1, "t", "").size();
  EXPECT_EQ(peer.deliver(1, "t", std::string(50 - overhead, 'p')), ServerSession::Delivery::queued);
  EXPECT_EQ(peer.output().size(), 50u);
  EXPECT_EQ(peer.deliver(1, "t", std::string(51 - overhead, 'p')),
            ServerSession::Delivery::discarded);
  EXPECT_EQ(peer.output(), "");
  // The reason string is omitted if it would make DISCONNECT too long (section 3.14.2.2.3).
  const std::string long_text(100, 'x');
  peer.session.disconnect(ReasonCode::administrative_action, long_text);
  EXPECT_EQ(peer.output(), "\xE0\x02\x98" + std::string(1, '\0'));
}

TEST(ServerSession, EndsWhenCONNACKIsAboveTheClientsMaximumPacketSize) {
  Peer peer;
  peer.send(
      connect("c", 0, properties([](auto& p) { p.u32(PropertyId::maximum_packet_size, 5); })));
  EXPECT_EQ(peer.output(), "");
  EXPECT_TRUE(peer.session.closed());
}

TEST(ServerSession, EndsOneAndAHalfKeepAliveTimesAfterTheLastSignOfLife) {
  Connected peer({}, 10);
  EXPECT_EQ(peer.session.poll_deadline(), at(15'000).mono);
  peer.send(bytes(mqtt5::Pingreq{}), at(14'000));
  EXPECT_EQ(peer.session.poll_deadline(), at(29'000).mono);
  peer.session.on_deadline(at(28'999));
  EXPECT_TRUE(peer.session.open());
  peer.output(at(28'999));
  peer.session.on_deadline(at(29'000));
  EXPECT_EQ(disconnect_code(peer.replies()), ReasonCode::keep_alive_timeout);
  EXPECT_TRUE(peer.session.closed());
  EXPECT_EQ(peer.session.poll_deadline(), std::nullopt);
}

TEST(ServerSession, AClientThatSlowlyReadsALargeAnswerIsAlive) {
  SessionLimits limits;
  limits.pause_above = 100;
  Connected peer(limits, 10);
  peer.deliver(0, "t", std::string(1000, 'p'));
  EXPECT_TRUE(peer.session.input_space().empty());
  peer.session.on_output(100, at(14'000));
  EXPECT_EQ(peer.session.poll_deadline(), at(29'000).mono);
  peer.session.on_deadline(at(29'000));
  EXPECT_FALSE(peer.session.open());
}

TEST(ServerSession, NeverTimesOutWithoutKeepAlive) {
  Connected peer;
  EXPECT_EQ(peer.session.poll_deadline(), std::nullopt);
}

TEST(ServerSession, DoesNotWaitForEverForCONNECTNorForTheLastBytesToBeRead) {
  Peer silent;
  EXPECT_EQ(silent.session.poll_deadline(), at(10'000).mono);
  silent.session.on_deadline(at(10'000));
  EXPECT_TRUE(silent.session.closed());
  EXPECT_EQ(silent.output(), "");

  Connected stuck;
  stuck.session.disconnect(ReasonCode::server_shutting_down, "bye");
  EXPECT_FALSE(stuck.session.closed());
  EXPECT_EQ(stuck.session.poll_deadline(), at(5'000).mono);
  stuck.session.on_deadline(at(5'000));
  EXPECT_TRUE(stuck.session.closed());
}

TEST(ServerSession, NotifiesItsHostOnceThatTheStreamEnded) {
  Connected peer;
  peer.session.on_eof(at(1));
  peer.drain();
  peer.drain();
  EXPECT_THAT(peer.events, ElementsAre("ended"));
  EXPECT_TRUE(peer.session.closed());
  EXPECT_EQ(peer.session.end_text(), "the client closed the connection without DISCONNECT");

  Connected orderly;
  orderly.send(bytes(mqtt5::Disconnect{}));
  EXPECT_EQ(orderly.session.end_text(), "");
}

struct Broken {
  const char* name;
  std::string input;
  ReasonCode code;
};

TEST(ServerSession, AnswersBrokenRulesWithTheirReasonAndCloses) {
  const std::string alias = properties([](auto& p) { p.u16(PropertyId::topic_alias, 1); });
  const std::string big = std::string("\x30\xFF\xFF\xFF\x7F", 5);
  mqtt5::Publish retained;
  retained.topic = "t";
  retained.retain = true;
  const std::string with_id = std::string("\x82\x09\0\1\2\x0B\1\0\1a\1", 11);
  for (const Broken& broken : std::vector<Broken>{
           {"QoS 2", publish(2, 1, "t", "p"), ReasonCode::qos_not_supported},
           {"retain", bytes(retained), ReasonCode::retain_not_supported},
           {"topic alias", publish(0, 0, "t", "p", alias), ReasonCode::topic_alias_invalid},
           {"wildcard", publish(0, 0, "t/#", "p"), ReasonCode::topic_name_invalid},
           {"packet too large", big, ReasonCode::packet_too_large},
           {"second CONNECT", connect("c"), ReasonCode::protocol_error},
           {"AUTH", bytes(mqtt5::Auth{}), ReasonCode::protocol_error},
           {"CONNACK", bytes(mqtt5::Connack{}), ReasonCode::protocol_error},
           {"PINGRESP", bytes(mqtt5::Pingresp{}), ReasonCode::protocol_error},
           {"PUBREL", std::string("\x62\x02\0\1", 4), ReasonCode::protocol_error},
           {"type 0", std::string("\0\0", 2), ReasonCode::malformed_packet},
           {"flags of PINGREQ", std::string("\xC1\0", 2), ReasonCode::malformed_packet},
           {"five-byte length", "\x30\xFF\xFF\xFF\xFF\x01", ReasonCode::malformed_packet},
           {"subscription identifier", with_id,
            ReasonCode::subscription_identifiers_not_supported}}) {
    Connected peer;
    peer.send(broken.input + bytes(mqtt5::Pingreq{}));
    const auto replies = peer.replies();
    ASSERT_EQ(replies.size(), 1u) << broken.name;  // nothing after it is answered
    EXPECT_EQ(disconnect_code(replies), broken.code) << broken.name;
    EXPECT_TRUE(peer.session.closed()) << broken.name;
    EXPECT_EQ(peer.session.end_code(), broken.code) << broken.name;
    EXPECT_FALSE(peer.session.end_text().empty()) << broken.name;
    peer.drain();
    EXPECT_THAT(peer.events, ElementsAre("ended")) << broken.name;
  }
}

std::string method(std::string_view name, std::string_view token = {}) {
  return properties([&](auto& p) {
    p.text(PropertyId::authentication_method, name);
    if (!token.empty()) p.text(PropertyId::authentication_data, token);
  });
}

std::string auth(ReasonCode code, std::string_view raw_properties) {
  mqtt5::Auth packet;
  packet.code = code;
  packet.properties.raw = raw_properties;
  return bytes(packet);
}

TEST(ServerSession, AnotherTokenIsTakenOnTheLiveConnection) {
  Peer peer;
  peer.send(connect("c", 0, method("K8S-SAT", "t1")));
  std::vector<Packet> replies = peer.replies();
  const auto connack = mqtt5::Connack::parse(replies.at(0).frame, replies.at(0).bytes);
  EXPECT_EQ(connack->properties.authentication_method, "K8S-SAT");
  peer.send(auth(ReasonCode::reauthenticate, method("K8S-SAT", "t2")) + bytes(mqtt5::Pingreq{}));
  replies = peer.replies();
  ASSERT_EQ(replies.size(), 2u);
  const auto answer = mqtt5::Auth::parse(replies[0].frame, replies[0].bytes);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->code, ReasonCode::success);
  EXPECT_EQ(answer->properties.authentication_method, "K8S-SAT");
  EXPECT_THAT(peer.events, ElementsAre("connect c", "token t2"));
  EXPECT_TRUE(peer.session.open());
}

TEST(ServerSession, AuthThatDoesNotBeginTheMethodOfTheConnectionAgainBreaksTheProtocol) {
  for (const std::string& packet :
       {auth(ReasonCode::reauthenticate, method("SCRAM")), auth(ReasonCode::reauthenticate, {}),
        auth(ReasonCode::continue_authentication, method("K8S-SAT")),
        auth(ReasonCode::success, method("K8S-SAT"))}) {
    Connected peer({}, 0, method("K8S-SAT", "t1"));
    peer.send(packet);
    EXPECT_EQ(disconnect_code(peer.replies()), ReasonCode::protocol_error);
    EXPECT_TRUE(peer.session.closed());
  }
}

TEST(ServerSession, RefusesConnectsItCannotServe) {
  mqtt5::Connect will;
  will.client_id = "c";
  will.will = mqtt5::Connect::Will{};
  will.will->topic = "t";
  will.will->qos = 2;
  mqtt5::Connect retained = will;
  retained.will->qos = 0;
  retained.will->retain = true;
  SessionLimits limits;
  limits.max_connect = 1000;
  for (const Broken& broken : std::vector<Broken>{
           {"MQTT 3.1.1", std::string("\x10\x0D\0\4MQTT\4\2\0\0\0\1c", 15),
            ReasonCode::unsupported_protocol_version},
           {"will of QoS 2", bytes(will), ReasonCode::qos_not_supported},
           {"retained will", bytes(retained), ReasonCode::retain_not_supported},
           {"too large", connect(std::string(1000, 'c')), ReasonCode::packet_too_large},
           {"cut", std::string("\x10\x03\0\4M", 5), ReasonCode::malformed_packet}}) {
    Peer peer(limits);
    peer.send(broken.input + bytes(mqtt5::Pingreq{}));
    const auto replies = peer.replies();
    ASSERT_EQ(replies.size(), 1u) << broken.name;
    const auto connack = mqtt5::Connack::parse(replies[0].frame, replies[0].bytes);
    ASSERT_TRUE(connack) << broken.name;
    EXPECT_EQ(connack->code, broken.code) << broken.name;
    EXPECT_TRUE(peer.session.closed()) << broken.name;
    EXPECT_TRUE(peer.events.empty()) << broken.name;
  }
}

TEST(ServerSession, ClosesWithoutAWordWhenTheFirstPacketIsNotCONNECT) {
  for (const std::string& first : {publish(0, 0, "t", "p"), bytes(mqtt5::Pingreq{})}) {
    Peer peer;
    peer.send(first);
    EXPECT_EQ(peer.output(), "");
    EXPECT_TRUE(peer.session.closed());
    EXPECT_TRUE(peer.events.empty());
  }
}

TEST(ServerSession, AnnouncedLengthsAloneCostNoMemory) {
  Connected peer;
  peer.send(std::string("\x30\xFF\xFF\xFF\x0F", 5));  // 32 MiB - 1 to come
  EXPECT_LE(peer.session.input_space().size(), 64u * 1024);
  EXPECT_TRUE(peer.session.open());
}

// For any bytes: no crash, every output is whole packets, and no event comes after the end.
TEST(ServerSession, SurvivesMutationsOfAConversation) {
  const std::string raw = properties([](auto& p) {
    p.text(PropertyId::response_topic, "clients/c/r");
    p.text(PropertyId::correlation_data, std::string(16, 'c'));
    p.user("__ts", "1696374425000:0:c");
  });
  const std::string good =
      connect("client", 10) + subscribe(1, {"a/#", "b"}) + publish(1, 2, "a/b", "payload", raw) +
      puback(1) + unsubscribe(3, {"b"}) + bytes(mqtt5::Pingreq{}) + bytes(mqtt5::Disconnect{});
  Random random(20'251'121);
  int connected = 0;
  std::set<ReasonCode> ends;
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = good;
    const std::uint64_t changes = 1 + random.below(4);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const std::size_t where = random.below(bad.size());
      const std::uint64_t kind = random.below(3);
      if (kind == 0) bad[where] = static_cast<char>(random.below(256));
      if (kind == 1) bad.erase(where, 1 + random.below(8));
      if (kind == 2)
        bad.insert(where, std::string(1 + random.below(8), static_cast<char>(random.below(256))));
      if (bad.empty()) bad = "x";
    }
    Peer peer;
    peer.send(bad, at(0), 1 + random.below(64));
    peer.deliver(1, "topic", "payload");
    if (!peer.events.empty()) ++connected;
    ends.insert(peer.session.end_code());
    const std::string out = peer.output();
    std::size_t whole = 0;
    for (const Packet& packet : packets(out)) whole += packet.bytes.size();
    ASSERT_EQ(whole, out.size()) << round;
    peer.session.on_eof(at(1));
    peer.drain();
    peer.events.clear();
    peer.drain();
    ASSERT_TRUE(peer.events.empty() && peer.session.closed()) << round;
  }
  EXPECT_GT(connected, 10'000);
  EXPECT_GT(ends.size(), 6u);
}

}  // namespace
}  // namespace sheaf::store::server::test
