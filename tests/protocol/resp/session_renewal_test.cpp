// Another login on a live connection: AUTH among the requests.

#include <gtest/gtest.h>

#include "protocol/resp/changes/value_version.h"
#include "tests/protocol/freed_memory.h"
#include "tests/protocol/resp/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::resp {
namespace {

class RespRenewal : public testing::Test {
 protected:
  SessionOptions options() const {
    SessionOptions options = test_options();
    options.handshake.login = slot;
    return options;
  }
  // A session that has logged in and is ready.
  std::unique_ptr<Wire> ready(Server server = Server::redis) const {
    auto wire = std::make_unique<Wire>(options());
    wire->session.start(wire->now());
    EXPECT_EQ(wire->sent(), "AUTH ann one");
    wire->feed("+OK\r\n");
    wire->take();
    wire->feed(hello_of(server));
    wire->take();
    wire->feed(last_of(server));
    EXPECT_EQ(wire->next().kind, Event::Kind::ready);
    return wire;
  }
  bool renew(Wire& wire, std::string_view user, std::string_view password) const {
    slot->present = make_login(user, password);
    return wire.session.renew_login(wire.now());
  }

  const std::shared_ptr<LoginSlot> slot = test::login_slot("ann", "one");
};

TEST_F(RespRenewal, AuthGoesAmongTheRequestsInOrder) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{1'000}}) {
    slot->present = make_login("ann", "one");
    const auto wire = ready();
    const Ticket before = wire->submit(get("a"));
    EXPECT_TRUE(renew(*wire, "ann", "two"));
    const Ticket after = wire->submit(get("b"));
    EXPECT_EQ(wire->sent(), "GET a; AUTH ann two; GET b");
    wire->feed(bulk("1") + "+OK\r\n" + bulk("2"), step);
    const Seen first = wire->next();
    EXPECT_EQ(first.ticket, before);
    EXPECT_EQ(first.value, "1");
    const Seen second = wire->next();
    EXPECT_EQ(second.ticket, after);
    EXPECT_EQ(second.value, "2");
    EXPECT_TRUE(wire->session.ready() && wire->session.clean());
    EXPECT_EQ(wire->sent(), "");
  }
}

TEST_F(RespRenewal, ARefusalEndsTheConnectionForGoodAndShowsNoPassword) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "ann", "two-secret"));
  const Ticket behind = wire->submit(get("b"));
  wire->take();
  wire->feed("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  const Seen lost = wire->next();
  EXPECT_EQ(lost.kind, Event::Kind::failed);
  EXPECT_EQ(lost.ticket, behind);
  const CloseReason& why = wire->end();
  EXPECT_EQ(why.reason, Reason::authentication);
  EXPECT_TRUE(why.permanent);
  EXPECT_FALSE(why.renegotiates);
  EXPECT_EQ(why.text,
            "the server refused AUTH: WRONGPASS invalid username-password pair or user is "
            "disabled.");
}

TEST_F(RespRenewal, APasswordThatTheServerRepeatsIsNotInTheReason) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "ann", "two-secret"));
  wire->take();
  wire->feed("-WRONGPASS two-secret is not it\r\n");
  EXPECT_EQ(wire->end().text, "the server refused AUTH: WRONGPASS ... is not it");
}

TEST_F(RespRenewal, AServerThatIsSilentOnItIsLost) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "ann", "two"));
  EXPECT_EQ(wire->sent(), "AUTH ann two");
  wire->pass();
  EXPECT_EQ(wire->sent(), "PING");
  wire->pass();
  EXPECT_EQ(wire->end().reason, Reason::connection_lost);
}

TEST_F(RespRenewal, AnOddReplyBreaksTheProtocol) {
  for (const char* const odd : {"+QUEUED\r\n", "$2\r\nOK\r\n", "_\r\n"}) {
    slot->present = make_login("ann", "one");
    const auto wire = ready();
    EXPECT_TRUE(renew(*wire, "ann", "two"));
    wire->take();
    wire->feed(odd);
    EXPECT_EQ(wire->end().reason, Reason::protocol_error) << odd;
  }
}

TEST_F(RespRenewal, AReplyBeforeAuthHasLeftIsNoReplyToIt) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "ann", "two"));
  wire->take(3);
  wire->feed("+OK\r\n");
  EXPECT_EQ(wire->end().reason, Reason::protocol_error);
}

TEST_F(RespRenewal, TheSameLoginAgainSendsNothing) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "ann", "one"));
  EXPECT_EQ(wire->sent(), "");
}

TEST_F(RespRenewal, AnotherUserIsTakenAndNoUserIsNot) {
  const auto wire = ready();
  EXPECT_TRUE(renew(*wire, "bob", "two"));
  EXPECT_EQ(wire->sent(), "AUTH bob two");
  wire->feed("+OK\r\n");
  EXPECT_TRUE(renew(*wire, "", "three"));
  EXPECT_EQ(wire->sent(), "AUTH three");
  wire->feed("+OK\r\n");
  EXPECT_FALSE(renew(*wire, "", "")) << "nobody can log out";
  EXPECT_EQ(wire->sent(), "");
  EXPECT_EQ(wire->ask(get("a"), bulk("1")).value, "1") << "until it is replaced it works";
}

TEST_F(RespRenewal, AConnectionWithoutALoginMayGetOne) {
  slot->present = nullptr;
  Wire wire(options());
  wire.session.start(wire.now());
  EXPECT_EQ(wire.sent(), "HELLO 3");
  EXPECT_TRUE(renew(wire, "ann", "two"));
  EXPECT_EQ(wire.sent(), "");
  wire.feed(hello_of(Server::redis));
  EXPECT_TRUE(wire.sent().ends_with("PING"));
  wire.feed("+OK\r\n+OK\r\n+PONG\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.sent(), "AUTH ann two");
}

TEST_F(RespRenewal, BeforeTheStartThereIsNothingToRenew) {
  Wire wire(options());
  EXPECT_TRUE(renew(wire, "ann", "two"));
  wire.session.start(wire.now());
  EXPECT_EQ(wire.sent(), "AUTH ann two");
}

TEST_F(RespRenewal, DuringTheHandshakeItWaitsUntilThatIsOver) {
  Wire wire(options());
  wire.session.start(wire.now());
  EXPECT_EQ(wire.sent(), "AUTH ann one");
  EXPECT_TRUE(renew(wire, "ann", "two"));
  wire.feed("+OK\r\n");
  EXPECT_EQ(wire.sent(), "HELLO 3");
  EXPECT_TRUE(renew(wire, "ann", "three"));
  wire.feed(hello_of(Server::redis));
  EXPECT_TRUE(wire.sent().ends_with("PING"));
  wire.feed("+OK\r\n+OK\r\n+PONG\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.sent(), "AUTH ann three");
}

TEST_F(RespRenewal, ARefusalOfALoginThatIsNoLongerThePresentOneIsNotForGood) {
  Wire wire(options());
  wire.session.start(wire.now());
  wire.take();
  EXPECT_TRUE(renew(wire, "ann", "two"));
  wire.feed("-WRONGPASS no\r\n");
  const CloseReason& why = wire.end();
  EXPECT_EQ(why.reason, Reason::authentication);
  EXPECT_FALSE(why.permanent);
  EXPECT_TRUE(why.renegotiates) << "the next connection shows another one";
}

TEST_F(RespRenewal, ATransactionThatIsOpenEndsFirst) {
  const auto garnet = ready(Server::garnet);
  const ValueVersion version = ValueVersion::of("old");
  Operation swap = set("k", "new");
  swap.condition = Condition::if_version;
  swap.version = version.text();
  garnet->submit(swap);
  EXPECT_EQ(garnet->sent(), "WATCH k; GET k; MULTI");
  EXPECT_TRUE(renew(*garnet, "ann", "two"));
  EXPECT_EQ(garnet->sent(), "");
  garnet->feed("+OK\r\n" + bulk("old") + "+OK\r\n");
  EXPECT_EQ(garnet->sent(), "SET k new; EXEC; AUTH ann two");
  garnet->feed("+QUEUED\r\n*1\r\n+OK\r\n+OK\r\n");
  EXPECT_EQ(garnet->next().status, Status::done);
  EXPECT_EQ(garnet->ask(get("k"), bulk("new")).value, "new");
  EXPECT_TRUE(garnet->session.clean());
}

TEST_F(RespRenewal, OfTwoInARowTheLastOneHolds) {
  for (const char* const first : {"+OK\r\n", "-WRONGPASS it is no longer that one\r\n"}) {
    slot->present = make_login("ann", "one");
    const auto wire = ready();
    EXPECT_TRUE(renew(*wire, "ann", "two"));
    EXPECT_TRUE(renew(*wire, "ann", "three"));
    EXPECT_TRUE(renew(*wire, "ann", "four"));
    EXPECT_EQ(wire->sent(), "AUTH ann two");
    wire->feed(first);
    EXPECT_EQ(wire->sent(), "AUTH ann four");
    wire->feed("+OK\r\n");
    EXPECT_TRUE(wire->session.clean());
    EXPECT_EQ(wire->sent(), "");
  }
}

TEST_F(RespRenewal, WhatIsCancelledBesideItTakesNothingFromIt) {
  const auto wire = ready();
  const Ticket unsent = wire->submit(get("a"));
  EXPECT_TRUE(renew(*wire, "ann", "two"));
  const Ticket sent = wire->submit(get("b"));
  EXPECT_EQ(wire->session.cancel(unsent, wire->now()), Sent::no);
  EXPECT_EQ(wire->sent(), "AUTH ann two; GET b");
  wire->session.cancel(sent, wire->now());
  wire->feed("+OK\r\n" + bulk("late"));
  EXPECT_TRUE(wire->session.clean());
  EXPECT_EQ(wire->session.counters().late_replies, 1u);
  EXPECT_EQ(wire->ask(get("c"), bulk("3")).value, "3");
}

TEST_F(RespRenewal, AnEndedConnectionHasNothingToRenew) {
  const auto wire = ready();
  wire->session.on_eof(wire->now());
  EXPECT_TRUE(renew(*wire, "ann", "two"));
  EXPECT_EQ(wire->sent(), "");
}

TEST_F(RespRenewal, NoPasswordStaysInMemoryThatIsGivenBack) {
  constexpr std::string_view secret = "a-secret-that-is-long-enough-for-no-short-string";
  const auto let_all_leave = [](Wire& wire) {
    std::size_t size = 0;
    for (const Bytes part : wire.session.poll_output()) size += part.size();
    wire.session.on_output(size, wire.now());
  };
  slot->present = make_login("ann", secret);
  const LookForSecret look(secret.substr(1));
  auto early = std::make_unique<Wire>(options());
  early->session.start(early->now());
  early->session.on_eof(early->now());
  early.reset();
  auto wire = std::make_unique<Wire>(options());
  wire->session.start(wire->now());
  let_all_leave(*wire);
  wire->feed("+OK\r\n");
  wire->take();
  wire->feed(hello_of(Server::redis));
  wire->take();
  wire->feed("+OK\r\n+OK\r\n+PONG\r\n");
  EXPECT_TRUE(wire->session.ready());
  EXPECT_TRUE(renew(*wire, "bob", secret));
  const std::string value(1'000, 'v');
  for (int i = 0; i < 100; ++i) wire->submit(set("key", value));  // the buffer grows
  let_all_leave(*wire);
  wire.reset();
  EXPECT_EQ(look.found(), 0u);
}

}  // namespace
}  // namespace sheaf::protocol::resp
