// How a session becomes ready, or why it does not. handshake_test.cpp has the handshake's own
// cases.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"
#include "tests/support/logins.h"

namespace sheaf::protocol::resp {
namespace {

SessionOptions with_login() {
  SessionOptions options = test_options();
  options.handshake.login = test::login_slot("ann", "secret");
  return options;
}

TEST(RespGreeting, TakesAsManyRoundTripsAsItHasSteps) {
  Wire wire(with_login());
  EXPECT_EQ(wire.session.room(), 0u);
  wire.session.start(wire.now());
  EXPECT_EQ(wire.sent(), "AUTH ann secret") << "alone";
  wire.feed("+OK\r\n");
  EXPECT_EQ(wire.sent(), "HELLO 3");
  wire.feed(live::garnet_hello_resp3);
  const std::string last = wire.sent();
  EXPECT_TRUE(last.starts_with("CLIENT SETINFO LIB-NAME sheaf; CLIENT SETINFO LIB-VER ")) << last;
  EXPECT_TRUE(last.ends_with("; CLUSTER MYID; PING")) << last;
  EXPECT_FALSE(wire.session.ready());
  EXPECT_EQ(wire.refusal(get("k")).reason, Reason::node_down);
  wire.feed("-ERR unknown subcommand 'SETINFO'.\r\n-ERR unknown subcommand\r\n" + bulk(server_id) +
            "+PONG\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_TRUE(wire.session.ready());
  EXPECT_TRUE(wire.session.clean());
  EXPECT_EQ(wire.session.room(), 512u);
  EXPECT_TRUE(wire.session.server().is(Software::garnet));
}

TEST(RespGreeting, SingleBytesMakeTheSame) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed("-ERR unknown command\r\n", 1);
  EXPECT_EQ(wire.sent(), "INFO server; INFO replication");
  wire.feed(bulk("redis_version:5.0.7\r\n") + bulk("role:master\r\n"), 1);
  wire.take();
  wire.feed("+OK\r\n+OK\r\n+PONG\r\n", 1);
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_TRUE(wire.session.server().is(Software::redis));
}

TEST(RespGreeting, AWrongPasswordIsTheEndForGood) {
  Wire wire(with_login());
  wire.session.start(wire.now());
  wire.take();
  wire.feed("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  EXPECT_EQ(wire.end().reason, Reason::authentication);
  EXPECT_TRUE(wire.session.close_reason().permanent);
  EXPECT_EQ(wire.session.close_reason().text.find("secret"), std::string::npos);
}

TEST(RespGreeting, AServerThatWantsALoginSaysSo) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed("-NOAUTH HELLO must be called with the client already authenticated\r\n");
  EXPECT_EQ(wire.end().reason, Reason::authentication);
  EXPECT_TRUE(wire.session.close_reason().permanent);
}

// The server says so as soon as it is connected.
TEST(RespGreeting, AFullServerIsTriedAgainLater) {
  for (const bool before_hello_left : {true, false}) {
    Wire wire;
    wire.session.start(wire.now());
    if (!before_hello_left) wire.take();
    wire.feed("-ERR max number of clients reached\r\n");
    EXPECT_EQ(wire.end().reason, Reason::connect_failed) << before_hello_left;
    EXPECT_FALSE(wire.session.close_reason().permanent);
  }
}

TEST(RespGreeting, AServerThatIsLoadingIsTriedAgainLater) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(live::redis_hello_resp3);
  wire.take();
  wire.feed("+OK\r\n+OK\r\n-LOADING Redis is loading the dataset in memory\r\n");
  EXPECT_NE(wire.end().text.find("LOADING"), std::string::npos);
  EXPECT_FALSE(wire.session.close_reason().permanent);
}

TEST(RespGreeting, NoReplyMayComeBeforeItsCommandHasLeft) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take(3);
  wire.feed(live::redis_hello_resp3);
  EXPECT_EQ(wire.end().reason, Reason::protocol_error);

  Wire later;
  later.session.start(later.now());
  later.take();
  later.feed(live::redis_hello_resp3);
  later.take(60);  // the whole of the first, a part of the second
  later.feed("+OK\r\n");
  EXPECT_FALSE(later.session.closed());
  later.feed("+OK\r\n");
  EXPECT_EQ(later.end().text,
            "the server broke the protocol: a reply to a request that has not been sent");
}

TEST(RespGreeting, PushesBelongToNoCommand) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.feed(">2\r\n+message\r\n+hello\r\n" + std::string(live::redis_hello_resp3));
  wire.take();
  wire.feed("+OK\r\n>1\r\n+x\r\n+OK\r\n+PONG\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::ready);
  EXPECT_EQ(wire.session.counters().bad_notifications, 2u);
}

TEST(RespGreeting, OtherProtocolsAreNotTakenForThisOne) {
  for (const std::string_view bytes :
       {"HTTP/1.1 400 Bad Request\r\n\r\n"sv, "SSH-2.0-OpenSSH_9.2\r\n"sv, "\x16\x03\x01\x02"sv,
        "\0\0\0\0"sv, "ERROR\r\n"sv, "$5\r\nhello\r\n"sv, "$9999999\r\n"sv}) {
    Wire wire;
    wire.session.start(wire.now());
    wire.take();
    wire.feed(bytes);
    EXPECT_EQ(wire.end().reason, Reason::protocol_error) << bytes;
  }
}

TEST(RespGreeting, HasALimitOfTime) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed + 5s);
  wire.pass();
  EXPECT_EQ(wire.end().reason, Reason::connect_failed);
  EXPECT_EQ(wire.session.close_reason().text,
            "the server did not answer the greeting in time: it hangs, or does not speak the Redis "
            "protocol");
}

TEST(RespGreeting, AServerThatHangsUpSaysNothing) {
  Wire wire;
  wire.session.start(wire.now());
  wire.take();
  wire.session.on_eof(wire.now());
  EXPECT_EQ(wire.end().reason, Reason::connect_failed);
}

}  // namespace
}  // namespace sheaf::protocol::resp
