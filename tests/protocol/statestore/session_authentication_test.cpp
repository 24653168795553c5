// Enhanced authentication (MQTT 5, section 4.12): a method and a token, and another token on the
// live connection.

#include <gtest/gtest.h>

#include "tests/protocol/statestore/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;
using mqtt5::ReasonCode;

constexpr std::string_view method = "K8S-SAT";
constexpr std::string_view shows_nothing = "";

std::string auth(ReasonCode code, std::string_view its_method = method) {
  const std::string raw = properties_of([&](PropertyWriter& writer) {
    if (!its_method.empty()) writer.text(PropertyId::authentication_method, its_method);
  });
  mqtt5::Auth packet{code, {}};
  packet.properties.raw = raw;
  return encoded(packet);
}

// A client's packet as text: "AUTH 19 K8S-SAT token".
std::string shown(const mqtt5::Frame& frame, std::string_view packet) {
  const auto of = [](const mqtt5::Properties& properties) {
    std::string text = " ";
    text.append(properties.authentication_method.value_or("(no method)"));
    return text.append(" ").append(properties.authentication_data.value_or("(no data)"));
  };
  std::string text(to_string(frame.type));
  if (const auto connect = mqtt5::Connect::parse(frame, packet);
      connect && frame.type == mqtt5::PacketType::connect) {
    return text + of(connect->properties);
  }
  if (frame.type != mqtt5::PacketType::auth) return text;
  const auto parsed = mqtt5::Auth::parse(frame, packet);
  if (!parsed) return "no AUTH";
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto code = static_cast<unsigned>(parsed->code);
  text.append(1, ' ').append(1, digits[code >> 4]).append(1, digits[code & 15]);
  return text + of(parsed->properties);
}
std::string shown(std::string_view bytes) {
  std::string text;
  for (auto result = mqtt5::read_frame(bytes);
       !bytes.empty() && result.state == mqtt5::FrameResult::State::frame;
       result = mqtt5::read_frame(bytes)) {
    const std::string_view packet = bytes.substr(0, result.frame.total_size);
    bytes.remove_prefix(packet.size());
    text += (text.empty() ? "" : "; ") + shown(result.frame, packet);
  }
  return text;
}

class StoreAuthentication : public testing::Test {
 protected:
  StoreSessionOptions options() const {
    StoreSessionOptions options = test_options();
    options.login = slot;
    return options;
  }
  bool renew(Wire& wire, SharedLogin login) const {
    slot->present = std::move(login);
    return wire.session.renew_login(wire.now());
  }
  bool renew(Wire& wire, std::string_view token) const {
    return renew(wire, test::token_login(method, token));
  }
  std::unique_ptr<Wire> ready(const Fill& limits = {}) const {
    slot->present = test::token_login(method, "one");
    auto wire = std::make_unique<Wire>(options());
    wire->handshake(limits);
    EXPECT_TRUE(wire->session.ready());
    return wire;
  }
  static const CloseReason& end(Wire& wire) {
    wire.poll();
    EXPECT_TRUE(wire.session.closed());
    return wire.session.close_reason();
  }
  static Operation operation() { return get("k"); }

  const std::shared_ptr<LoginSlot> slot =
      std::make_shared<LoginSlot>(LoginSlot{test::token_login(method, "one")});
};

// ---- logging in

TEST_F(StoreAuthentication, MethodAndTokenGoIntoConnect) {
  Wire wire(options());
  wire.session.start(wire.now());
  EXPECT_EQ(shown(wire.take()), "CONNECT K8S-SAT one");
  slot->present = test::token_login(method, "");
  Wire empty(options());
  empty.session.start(empty.now());
  EXPECT_EQ(shown(empty.take()), "CONNECT K8S-SAT (no data)");
  slot->present = test::login_slot("ann", "word")->present;
  Wire without(options());
  without.session.start(without.now());
  EXPECT_EQ(shown(without.take()), "CONNECT (no method) (no data)");
}

TEST_F(StoreAuthentication, TheTokenIsThatOfTheMomentOfTheStart) {
  Wire wire(options());
  EXPECT_TRUE(renew(wire, "two"));
  wire.session.start(wire.now());
  EXPECT_EQ(shown(wire.take()), "CONNECT K8S-SAT two");
}

TEST_F(StoreAuthentication, WhatIsNoMqttStringIsNotSent) {
  for (const SharedLogin& bad :
       {test::token_login("\xFF", "t"), test::token_login(method, std::string(65'536, 't')),
        test::token_login(std::string(65'536, 'm'), "t")}) {
    slot->present = bad;
    Wire wire(options());
    wire.session.start(wire.now());
    EXPECT_EQ(wire.take(), "");
    EXPECT_EQ(end(wire).reason, Reason::bad_configuration);
  }
}

TEST_F(StoreAuthentication, ConnackIsOfTheSameMethodOrOfNone) {
  for (const std::string_view theirs : {std::string_view(), method, std::string_view("SCRAM")}) {
    Wire wire(options());
    wire.session.start(wire.now());
    wire.take();
    wire.feed(connack(ReasonCode::success, [&](PropertyWriter& writer) {
      if (!theirs.empty()) writer.text(PropertyId::authentication_method, theirs);
    }));
    const bool good = theirs != "SCRAM";
    EXPECT_EQ(shown(wire.take()), good ? "SUBSCRIBE" : "");
    if (!good) {
      EXPECT_EQ(end(wire).reason, Reason::protocol_error);
    }
  }
}

TEST_F(StoreAuthentication, AMethodThatNobodyNamedBreaksTheProtocol) {
  slot->present = nullptr;
  Wire wire(options());
  wire.session.start(wire.now());
  wire.take();
  wire.feed(connack(ReasonCode::success, [](PropertyWriter& writer) {
    writer.text(PropertyId::authentication_method, method);
  }));
  EXPECT_EQ(end(wire).reason, Reason::protocol_error);
  Wire other(options());
  other.session.start(other.now());
  other.take();
  other.feed(auth(ReasonCode::continue_authentication));
  EXPECT_EQ(end(other).reason, Reason::protocol_error);
}

TEST_F(StoreAuthentication, ARefusedTokenIsForGoodUnlessThereIsAnotherByNow) {
  for (const bool renewed : {false, true}) {
    slot->present = test::token_login(method, "secret-one");
    Wire wire(options());
    wire.session.start(wire.now());
    wire.take();
    EXPECT_TRUE(!renewed || renew(wire, "two"));
    EXPECT_EQ(wire.take(), "") << "until the server has answered, nothing more is sent";
    wire.feed(connack(ReasonCode::not_authorized));
    const CloseReason& why = end(wire);
    EXPECT_EQ(why.reason, Reason::authentication);
    EXPECT_EQ(why.permanent, !renewed);
    EXPECT_EQ(why.renegotiates, renewed);
    EXPECT_EQ(why.text, "the server refused the connection: not authorized");
  }
}

TEST_F(StoreAuthentication, AServerMayAskForTheTokenOnceMoreWhenItLogsIn) {
  Wire wire(options());
  wire.session.start(wire.now());
  wire.take();
  wire.feed(auth(ReasonCode::continue_authentication));
  EXPECT_EQ(shown(wire.take()), "AUTH 18 K8S-SAT one");
  wire.feed(connack());
  EXPECT_EQ(shown(wire.take()), "SUBSCRIBE");
}

TEST_F(StoreAuthentication, MoreStepsThanTheMethodHasAreARefusal) {
  Wire wire(options());
  wire.session.start(wire.now());
  wire.take();
  wire.feed(auth(ReasonCode::continue_authentication));
  wire.take();
  wire.feed(auth(ReasonCode::continue_authentication));
  EXPECT_EQ(end(wire).reason, Reason::authentication);
  EXPECT_TRUE(end(wire).permanent);
  const auto later = ready();
  EXPECT_TRUE(renew(*later, "two"));
  later->take();
  later->feed(auth(ReasonCode::continue_authentication));
  EXPECT_EQ(shown(later->take()), "AUTH 18 K8S-SAT two");
  later->feed(auth(ReasonCode::continue_authentication));
  EXPECT_EQ(end(*later).reason, Reason::authentication);
  EXPECT_EQ(shown(later->take()), "DISCONNECT");
}

TEST_F(StoreAuthentication, OtherAuthPacketsWhileLoggingInBreakTheProtocol) {
  for (const std::string& packet : {auth(ReasonCode::success), auth(ReasonCode::reauthenticate),
                                    auth(ReasonCode::continue_authentication, "SCRAM"),
                                    auth(ReasonCode::continue_authentication, {})}) {
    Wire wire(options());
    wire.session.start(wire.now());
    wire.take();
    wire.feed(packet);
    EXPECT_EQ(end(wire).reason, Reason::protocol_error);
  }
}

TEST_F(StoreAuthentication, AnswersBeforeConnectHasLeftBreakTheProtocol) {
  Wire wire(options());
  wire.session.start(wire.now());
  wire.take(10);
  wire.feed(auth(ReasonCode::continue_authentication));
  EXPECT_EQ(end(wire).reason, Reason::protocol_error);
}

// ---- another token

TEST_F(StoreAuthentication, AnotherTokenGoesOverTheLiveConnectionAmongTheRequests) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{1'000}}) {
    const auto wire = ready();
    const Ticket ticket = wire->submit(operation());
    EXPECT_TRUE(renew(*wire, "two"));
    const Ticket behind = wire->submit(operation());
    const std::string bytes = wire->take();
    EXPECT_EQ(shown(bytes), "PUBLISH; AUTH 19 K8S-SAT two; PUBLISH");
    const auto requests = Wire::requests_in(bytes);
    ASSERT_EQ(requests.size(), 2u);
    wire->feed(reply_bytes(requests[0].correlation, {"$1\r\n1\r\n"}) + auth(ReasonCode::success) +
                   reply_bytes(requests[1].correlation, {"$1\r\n2\r\n"}),
               step);
    EXPECT_EQ(wire->next().ticket, ticket);
    EXPECT_EQ(wire->next().ticket, behind);
    EXPECT_TRUE(wire->session.ready());
    wire->elapsed += 6s;
    wire->session.on_deadline(wire->now());
    EXPECT_TRUE(wire->session.ready()) << "it was answered in time";
  }
}

TEST_F(StoreAuthentication, ARefusedTokenEndsTheConnectionForGood) {
  for (const ReasonCode code :
       {ReasonCode::not_authorized, ReasonCode::bad_authentication_method,
        ReasonCode::bad_user_name_or_password, ReasonCode::administrative_action}) {
    const auto wire = ready();
    EXPECT_TRUE(renew(*wire, "two"));
    const Ticket ticket = wire->submit(operation());
    wire->take();
    wire->feed(disconnect(code));
    const Seen lost = wire->next();
    EXPECT_EQ(lost.kind, Event::Kind::failed);
    EXPECT_EQ(lost.ticket, ticket);
    EXPECT_EQ(end(*wire).reason, Reason::authentication) << to_string(code);
    EXPECT_TRUE(end(*wire).permanent) << to_string(code);
  }
}

TEST_F(StoreAuthentication, ATokenThatTheServerRepeatsIsNotInTheReason) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "two-token"));
  wire->take();
  std::string text;
  ByteWriter to_text(text);
  mqtt5::PropertyWriter(to_text).text(mqtt5::PropertyId::reason_string, "two-token has ended");
  mqtt5::Disconnect packet{ReasonCode::not_authorized, {}};
  packet.properties.raw = text;
  wire->feed(encoded(packet));
  EXPECT_EQ(end(*wire).text, "the server ended the connection: not authorized (... has ended)");
}

TEST_F(StoreAuthentication, AnOldTokenThatIsRefusedIsNotForGoodWhenThereIsAnother) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "two"));
  wire->take();
  EXPECT_TRUE(renew(*wire, "three"));
  wire->feed(disconnect(ReasonCode::not_authorized));
  EXPECT_FALSE(end(*wire).permanent);
  EXPECT_TRUE(end(*wire).renegotiates);
}

TEST_F(StoreAuthentication, AServerThatEndsATokensTimeRefusesTheToken) {
  const auto wire = ready();
  wire->feed(disconnect(ReasonCode::not_authorized));
  EXPECT_EQ(end(*wire).reason, Reason::authentication);
  EXPECT_TRUE(end(*wire).permanent);
  slot->present = nullptr;
  Wire without(options());
  without.handshake();
  without.feed(disconnect(ReasonCode::not_authorized));
  EXPECT_EQ(end(without).reason, Reason::not_authorized);
}

TEST_F(StoreAuthentication, NoAnswerInTimeEndsTheConnection) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "two"));
  wire->take();
  EXPECT_EQ(wire->session.poll_deadline(), wire->now().mono + test_options().answer_limit);
  wire->elapsed += test_options().answer_limit - 1ms;
  wire->session.on_deadline(wire->now());
  EXPECT_FALSE(wire->session.closed());
  wire->elapsed += 1ms;
  wire->session.on_deadline(wire->now());
  EXPECT_EQ(shown(wire->take()), "DISCONNECT");
  EXPECT_EQ(end(*wire).reason, Reason::connection_lost);
  EXPECT_EQ(end(*wire).text, "the server did not answer a re-authentication in time");
}

TEST_F(StoreAuthentication, OtherAnswersBreakTheProtocol) {
  for (const std::string& packet :
       {auth(ReasonCode::reauthenticate), auth(ReasonCode::success, "SCRAM"),
        auth(ReasonCode::success, {}), auth(ReasonCode::not_authorized)}) {
    const auto wire = ready();
    EXPECT_TRUE(renew(*wire, "two"));
    wire->take();
    wire->feed(packet);
    EXPECT_EQ(end(*wire).reason, Reason::protocol_error);
    EXPECT_EQ(shown(wire->take()), "DISCONNECT");
  }
}

TEST_F(StoreAuthentication, AnAnswerToNothingBreaksTheProtocol) {
  const auto wire = ready();
  wire->feed(auth(ReasonCode::success));
  EXPECT_EQ(end(*wire).reason, Reason::protocol_error);
  const auto early = ready();
  EXPECT_TRUE(renew(*early, "two"));
  early->take(2);
  early->feed(auth(ReasonCode::success));
  EXPECT_EQ(end(*early).reason, Reason::protocol_error);
  const auto twice = ready();
  EXPECT_TRUE(renew(*twice, "two"));
  twice->take();
  twice->feed(auth(ReasonCode::success) + auth(ReasonCode::success));
  EXPECT_EQ(end(*twice).reason, Reason::protocol_error);
}

TEST_F(StoreAuthentication, WhileLoggingInItWaitsUntilTheConnectionIsReady) {
  Wire wire(options());
  wire.session.start(wire.now());
  wire.take();
  EXPECT_TRUE(renew(wire, "two"));
  EXPECT_EQ(wire.take(), shows_nothing);
  wire.feed(connack());
  EXPECT_EQ(shown(wire.take()), "SUBSCRIBE");
  EXPECT_TRUE(renew(wire, "three"));
  EXPECT_EQ(wire.take(), shows_nothing);
  wire.feed(suback());
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(shown(wire.take()), "AUTH 19 K8S-SAT three");
}

TEST_F(StoreAuthentication, OfTwoInARowTheLastOneHolds) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "two"));
  EXPECT_TRUE(renew(*wire, "three"));
  EXPECT_TRUE(renew(*wire, "four"));
  EXPECT_EQ(shown(wire->take()), "AUTH 19 K8S-SAT two");
  wire->feed(auth(ReasonCode::success));
  EXPECT_EQ(shown(wire->take()), "AUTH 19 K8S-SAT four");
  wire->feed(auth(ReasonCode::success));
  EXPECT_EQ(wire->take(), shows_nothing);
  EXPECT_TRUE(wire->session.ready());
}

TEST_F(StoreAuthentication, ACancelledRequestBesideItTakesNothingFromIt) {
  const auto wire = ready();
  const Ticket ticket = wire->submit(operation());
  EXPECT_TRUE(renew(*wire, "two"));
  EXPECT_EQ(wire->session.cancel(ticket, wire->now()), Sent::no);
  EXPECT_EQ(shown(wire->take()), "AUTH 19 K8S-SAT two");
  wire->feed(auth(ReasonCode::success));
  EXPECT_TRUE(wire->session.ready());
}

TEST_F(StoreAuthentication, OnlyATokenOfTheSameMethodCanBeRenewed) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "one")) << "nothing differs";
  EXPECT_FALSE(renew(*wire, SharedLogin()));
  EXPECT_FALSE(renew(*wire, test::token_login("SCRAM", "two")));
  EXPECT_FALSE(renew(*wire, make_login("ann", "word")));
  EXPECT_EQ(wire->take(), shows_nothing);
  slot->present = make_login("ann", "one");
  Wire password(options());
  password.handshake();
  EXPECT_TRUE(renew(password, make_login("ann", "one")));
  EXPECT_FALSE(renew(password, make_login("ann", "two")));
  EXPECT_FALSE(renew(password, "two"));
  slot->present = nullptr;
  Wire nobody(options());
  nobody.handshake();
  EXPECT_TRUE(renew(nobody, SharedLogin()));
  EXPECT_FALSE(renew(nobody, "two"));
  EXPECT_EQ(password.take() + nobody.take(), shows_nothing);
  EXPECT_TRUE(wire->session.ready() && password.session.ready() && nobody.session.ready())
      << "until they are replaced, they work";
}

TEST_F(StoreAuthentication, ATokenThatTheServerDoesNotTakeForItsSizeIsNotSent) {
  const auto wire =
      ready([](PropertyWriter& writer) { writer.u32(PropertyId::maximum_packet_size, 1'000); });
  EXPECT_FALSE(renew(*wire, std::string(1'000, 't')));
  EXPECT_EQ(wire->take(), shows_nothing);
  EXPECT_TRUE(renew(*wire, std::string(900, 't')));
  EXPECT_TRUE(shown(wire->take()).starts_with("AUTH 19 K8S-SAT ttt"));
}

}  // namespace
}  // namespace sheaf::protocol::statestore
