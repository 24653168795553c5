// The life of a ready connection: ends, cancelling, values that are borrowed, silence, bounds.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

TEST(RespLife, TheEndFailsEveryRequestOnceAndSaysWhatHadLeft) {
  ReadyWire wire;
  const std::string value(50'000, 'v');
  const Ticket whole = wire.submit(set("a", "v"));
  wire.take();
  const Ticket half = wire.submit(set("b", value));
  const Ticket none = wire.submit(set("c", "v"));
  wire.take(1'000);
  wire.session.on_eof(wire.now());
  wire.poll();
  const Seen expected[] = {
      {.kind = Event::Kind::failed, .ticket = whole, .sent = Sent::maybe},
      {.kind = Event::Kind::failed, .ticket = half, .sent = Sent::no},
      {.kind = Event::Kind::failed, .ticket = none, .sent = Sent::no},
      {.kind = Event::Kind::closed},
  };
  for (const Seen& event : expected) EXPECT_EQ(wire.next(), event);
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connection_lost);
  EXPECT_EQ(wire.take(), "");
  EXPECT_EQ(wire.refusal(get("k")).outcome, Outcome::not_sent);
}

TEST(RespLife, CloseFailsWhatIsInFlightAndSaysNothingToTheServer) {
  ReadyWire wire;
  wire.submit(get("a"));
  wire.session.close(wire.now());
  wire.poll();
  EXPECT_EQ(wire.next().sent, Sent::no);
  EXPECT_EQ(wire.end().reason, Reason::closed);
  EXPECT_EQ(wire.take(), "");
  EXPECT_TRUE(wire.session.input_space().empty());
  EXPECT_FALSE(wire.session.poll_deadline().has_value());
}

// ---- cancelling

TEST(RespLife, TheReplyOfACancelledRequestIsNobodysAndTheNextOneGetsItsOwn) {
  ReadyWire wire;
  const Ticket given_up = wire.submit(get("a"));
  wire.take();
  EXPECT_EQ(wire.session.cancel(given_up, wire.now()), Sent::maybe);
  EXPECT_FALSE(wire.session.clean()) << "a reply is owed";
  EXPECT_EQ(wire.session.in_flight(), 0u);
  const Ticket next = wire.submit(get("a"));
  EXPECT_EQ(next.slot, given_up.slot);
  wire.take();
  wire.feed("$4\r\nlate\r\n");
  EXPECT_TRUE(wire.events.empty());
  EXPECT_EQ(wire.session.counters().late_replies, 1u);
  wire.feed("$3\r\nown\r\n");
  const Seen own = wire.next();
  EXPECT_EQ(own.ticket, next);
  EXPECT_EQ(own.value, "own");
  EXPECT_TRUE(wire.session.clean());
}

TEST(RespLife, CancelledBeforeItLeavesNothingIsWritten) {
  ReadyWire wire;
  const Ticket first = wire.submit(set("a", "v"));
  wire.submit(set("b", "v"));
  EXPECT_EQ(wire.session.cancel(first, wire.now()), Sent::no);
  EXPECT_EQ(wire.sent(), "SET b v");
  wire.feed("+OK\r\n");
  EXPECT_EQ(wire.next().kind, Event::Kind::reply);
  EXPECT_TRUE(wire.session.clean());
}

TEST(RespLife, ASmallRequestThatHasBegunLeavesWhole) {
  ReadyWire wire;
  const Ticket begun = wire.submit(set("a", "v"));
  wire.take(3);
  EXPECT_EQ(wire.session.cancel(begun, wire.now()), Sent::maybe);
  EXPECT_FALSE(wire.session.closed());
  EXPECT_GT(wire.take().size(), 0u);
}

// ---- values

TEST(RespLife, ALargeValueIsWrittenFromWhereItLies) {
  ReadyWire wire;
  const std::string value(OutputQueue::copy_limit + 1, 'v');
  wire.submit(set("k", value));
  bool borrowed = false;
  for (const Bytes part : wire.session.poll_output()) {
    borrowed |= reinterpret_cast<const char*>(part.data()) == value.data();
  }
  EXPECT_TRUE(borrowed);
  EXPECT_LT(wire.session.output_capacity(), value.size());
  const std::size_t around = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$8193\r\n\r\n"sv.size();
  EXPECT_EQ(wire.take().size(), value.size() + around);
}

TEST(RespLife, GivingUpAHalfWrittenValueEndsTheConnection) {
  ReadyWire wire;
  const std::string value(50'000, 'v');
  wire.submit(get("a"));
  const Ticket large = wire.submit(set("k", value));
  wire.take(1'000);
  EXPECT_EQ(wire.session.cancel(large, wire.now()), Sent::no);
  wire.poll();
  EXPECT_EQ(wire.next().sent, Sent::maybe);
  EXPECT_NE(wire.end().text.find("given up"), std::string::npos);
}

// ---- silence

TEST(RespLife, ASilentConnectionIsAskedForASignOfLife) {
  ReadyWire wire;
  EXPECT_EQ(wire.session.poll_deadline(), wire.elapsed + 10s);
  wire.pass();
  EXPECT_EQ(wire.sent(), "PING");
  EXPECT_TRUE(wire.session.clean()) << "the session's own";
  const Ticket ticket = wire.submit(get("k"));
  wire.take();
  wire.feed("+PONG\r\n$1\r\nv\r\n");
  EXPECT_EQ(wire.next().ticket, ticket);
  EXPECT_TRUE(wire.events.empty());
  wire.pass();
  EXPECT_EQ(wire.sent(), "PING");
  wire.pass();
  EXPECT_EQ(wire.end().text, "the server did not answer a PING in time");
  EXPECT_EQ(wire.session.close_reason().reason, Reason::connection_lost);
}

TEST(RespLife, AnErrorIsASignOfLifeAndAValueIsNot) {
  ReadyWire wire;
  wire.pass();
  wire.take();
  wire.feed("-LOADING Redis is loading\r\n");
  EXPECT_TRUE(wire.events.empty());
  wire.pass();
  wire.take();
  wire.feed("$4\r\nPONG\r\n");
  EXPECT_EQ(wire.end().reason, Reason::protocol_error);
}

// ---- bounds

TEST(RespLife, CarriesAsManyRequestsAsItMay) {
  SessionOptions options = test_options();
  options.max_in_flight = 2;
  ReadyWire wire(Server::redis, options);
  EXPECT_EQ(wire.session.room(), 2u);
  const Ticket given_up = wire.submit(get("a"));
  wire.submit(get("b"));
  wire.take();
  EXPECT_EQ(wire.session.room(), 0u);
  EXPECT_EQ(wire.refusal(get("c")).reason, Reason::queue_full);
  wire.session.cancel(given_up, wire.now());
  EXPECT_EQ(wire.session.room(), 0u) << "its reply has not passed";
  wire.feed("_\r\n");
  EXPECT_EQ(wire.session.room(), 1u);
}

TEST(RespLife, TakesNoMoreWhileTooMuchWaitsToBeWritten) {
  SessionOptions options = test_options();
  options.output_limit = 100'000;
  ReadyWire wire(Server::redis, options);
  const std::string value(99'999, 'v');
  wire.submit(set("a", value));
  EXPECT_EQ(wire.session.room(), 0u);
  wire.take();
  EXPECT_GT(wire.session.room(), 0u);
}

TEST(RespLife, HoldsNoMoreInputThanALargestReply) {
  ReadyWire wire;
  wire.submit(get("k"));
  wire.take();
  wire.feed("$2000000\r\n" + std::string(1'999'999, 'v'));
  EXPECT_LE(wire.session.input_capacity(), 2'000'000u + (128u << 10));
  wire.feed("v\r\n");
  EXPECT_EQ(wire.next().value.size(), 2'000'000u);
  wire.feed("");
  wire.ask(get("k"), "_\r\n");
  EXPECT_LE(wire.session.input_capacity(), 256u << 10) << "given back";
}

TEST(RespLife, AnnouncedElementsTakeNoMemory) {
  for (const std::string_view head :
       {"*1048577\r\n", "%524289\r\n", ">1048577\r\n", "*99999999999\r\n"}) {
    ReadyWire wire;
    wire.submit(operation(Verb::stats));
    wire.take();
    wire.feed(head);
    EXPECT_EQ(wire.end().reason, Reason::protocol_error) << head;
    EXPECT_LE(wire.session.reply_capacity(), 64u) << head;
  }
  const std::vector<std::string_view> words{"LRANGE", "k", "0", "-1"};
  ReadyWire passing;
  passing.submit(command(words));
  passing.take();
  passing.feed("*999999999\r\n");
  EXPECT_FALSE(passing.session.closed());
  EXPECT_LE(passing.session.reply_capacity(), 64u);
}

}  // namespace
}  // namespace sheaf::protocol::resp
