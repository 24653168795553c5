// Everything that all sessions share, tested with a minimal protocol.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "tests/protocol/line_session.h"
#include "tests/protocol/scarce_memory.h"
#include "tests/protocol/take_output.h"
#include "tests/support/latency.h"

namespace sheaf::protocol {
namespace {

using namespace std::chrono_literals;

class SessionBaseTest : public testing::Test {
 protected:
  struct Seen {
    Event::Kind kind = Event::Kind::closed;
    Ticket ticket{};
    std::string value{};
    Sent sent = Sent::no;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  static LifeOptions usual() {
    LifeOptions options;
    options.input_limit = 100'000;
    options.handshake_limit = 5s;
    options.keep_alive = 10s;
    options.answer_limit = 2s;
    options.greeting = "HELLO";
    options.greeting_hint = ", or does not know it";
    options.no_op = "a PING";
    return options;
  }

  Now now() const { return {elapsed, 0ms}; }
  void become_ready() {
    session.start(now());
    take();
    feed("OK\n");
    EXPECT_EQ(next().kind, Event::Kind::ready);
  }
  std::string take(std::size_t most = static_cast<std::size_t>(-1)) {
    std::string bytes = take_output(session, now(), most);
    if (!bytes.empty()) answers.on_request(elapsed);
    return bytes;
  }
  // The bytes arrive test::latency after the last write, unless the test itself has let time pass.
  void feed(std::string_view bytes) {
    elapsed = answers.of_answer(elapsed);
    const std::span<std::byte> space = session.input_space();
    ASSERT_GE(space.size(), bytes.size());
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
    session.on_input(bytes.size(), now());
    poll();
  }
  void poll() {
    Event event;
    while (session.poll_event(event)) {
      events.push_back({event.kind, event.ticket, std::string(event.reply.value), event.sent});
    }
  }
  Seen next() {
    if (events.empty()) return {Event::Kind::closed, {}, "no event", Sent::no};
    const Seen first = events.front();
    events.pop_front();
    return first;
  }
  Ticket submit(std::string_view key, std::string_view value = {}) {
    Operation operation;
    operation.key = key;
    operation.value = value;
    const auto ticket = session.submit(operation, now());
    EXPECT_TRUE(ticket.has_value());
    return ticket.value_or(Ticket{});
  }
  void pass(Deadline time) {
    elapsed += time;
    session.on_deadline(now());
    poll();
  }
  void expect_closed(Reason reason, std::string_view text) {
    poll();
    EXPECT_EQ(next(), (Seen{Event::Kind::closed, {}, "", Sent::no}));
    EXPECT_TRUE(events.empty());
    EXPECT_EQ(session.close_reason().reason, reason);
    EXPECT_EQ(session.close_reason().text, text);
    EXPECT_EQ(session.poll_deadline(), std::nullopt);
    EXPECT_EQ(session.room(), 0u);
    EXPECT_TRUE(session.input_space().empty());
  }

  Deadline elapsed = 1h;
  test::AnswerTime answers;
  LineSession session{usual()};
  std::deque<Seen> events;
};

// ---- handshake and keep-alive

TEST_F(SessionBaseTest, AHandshakeHasALimit) {
  EXPECT_EQ(session.poll_deadline(), std::nullopt);
  session.start(now());
  EXPECT_EQ(take(), "HELLO\n");
  EXPECT_EQ(session.poll_deadline(), elapsed + 5s);
  pass(5s - 1ns);
  EXPECT_FALSE(session.closed());
  pass(1ns);
  expect_closed(Reason::connect_failed,
                "the server did not answer HELLO in time, or does not know it");
}

TEST_F(SessionBaseTest, TheLimitHoldsUntilTheSessionIsReady) {
  session.start(now());
  take();
  feed("HALF\n");
  pass(5s - test::latency - 1ns);
  EXPECT_FALSE(session.closed());
  pass(1ns);
  expect_closed(Reason::connect_failed,
                "the server did not answer HELLO in time, or does not know it");
}

TEST_F(SessionBaseTest, SilenceIsAskedForASignOfLife) {
  become_ready();
  EXPECT_EQ(session.poll_deadline(), elapsed + 10s);
  pass(9s);
  feed("PONG\n");  // any byte
  EXPECT_EQ(session.poll_deadline(), elapsed + 10s);
  pass(10s);
  EXPECT_EQ(take(), "PING\n");
  pass(2s - 1ns);
  EXPECT_FALSE(session.closed());
  feed("PONG\n");
  EXPECT_EQ(session.poll_deadline(), elapsed + 10s);
}

TEST_F(SessionBaseTest, AnAnswerIsOwedFromWhenTheQuestionHasLeft) {
  become_ready();
  pass(10s);
  pass(1s);
  EXPECT_EQ(take(2), "PI");
  pass(1s);
  EXPECT_EQ(take(), "NG\n");
  EXPECT_EQ(session.poll_deadline(), elapsed + 2s);
  pass(2s);
  expect_closed(Reason::connection_lost, "the server did not answer a PING in time");
}

TEST_F(SessionBaseTest, WhoeverWantsToHearFromUsHearsFromUs) {
  LifeOptions either = usual();
  either.silence = KeepAlive::Silence::of_either;
  LineSession talker(either);
  talker.start(now());
  talker.on_output(6, now());
  EXPECT_EQ(talker.poll_deadline(), elapsed + 5s);
  const std::span<std::byte> space = talker.input_space();
  std::copy_n(reinterpret_cast<const std::byte*>("OK\n"), 3, space.begin());
  elapsed += 4s;
  talker.on_input(3, now());
  Event event;
  EXPECT_TRUE(talker.poll_event(event));
  EXPECT_EQ(talker.poll_deadline(), elapsed - 4s + 10s) << "we have written nothing since";
}

TEST_F(SessionBaseTest, AChoreOfItsOwnHasItsMoment) {
  become_ready();
  session.chore = elapsed + 1s;
  EXPECT_EQ(session.poll_deadline(), elapsed + 1s);
  pass(1s - 1ns);
  EXPECT_EQ(session.chores_done, 0u);
  pass(1ns);
  EXPECT_EQ(session.chores_done, 1u);
  EXPECT_EQ(take(), "") << "no no-op yet";
  EXPECT_EQ(session.poll_deadline(), elapsed + 9s);
}

// ---- requests

TEST_F(SessionBaseTest, RefusalsSayWhy) {
  Operation operation;
  operation.key = "k";
  const auto refusal = [&] { return session.submit(operation, now()).error(); };
  EXPECT_EQ(refusal().reason, Reason::node_down);
  EXPECT_EQ(refusal().outcome, Outcome::not_sent);
  become_ready();
  session.slots = 0;
  EXPECT_EQ(refusal().reason, Reason::queue_full);
  session.slots = 1;
  operation.key = {};
  EXPECT_EQ(refusal().reason, Reason::bad_argument);
  session.close(now());
  EXPECT_EQ(refusal().reason, Reason::closed);
  EXPECT_EQ(take(), "BYE\n");
}

TEST_F(SessionBaseTest, WhatHasNotLeftIsTakenBackAndWhatHasLeftIsWaitedFor) {
  become_ready();
  const Ticket first = submit("first");
  const Ticket second = submit("second");
  EXPECT_EQ(take(3), "fir");
  EXPECT_EQ(session.cancel(second, now()), Sent::no);
  EXPECT_EQ(session.cancel(first, now()), Sent::maybe);
  EXPECT_EQ(session.cancel(first, now()), Sent::maybe) << "nothing is known of it any more";
  const Ticket third = submit("third");
  EXPECT_EQ(take(), "st \nthird \n");
  feed("late\nright\n");
  EXPECT_EQ(next(), (Seen{Event::Kind::reply, third, "right", Sent::maybe}));
  EXPECT_EQ(session.in_flight(), 0u);
}

TEST_F(SessionBaseTest, AHalfWrittenValueThatIsTakenAwayEndsTheConnection) {
  become_ready();
  const std::string value(100'000, 'v');
  const Ticket large = submit("k", value);
  const Ticket after = submit("after");
  take(50);
  EXPECT_EQ(session.cancel(large, now()), Sent::no);
  EXPECT_EQ(take(), "") << "no farewell in the middle of a frame";
  poll();
  EXPECT_EQ(next(), (Seen{Event::Kind::failed, after, "", Sent::no}));
  expect_closed(Reason::connection_lost, "a request was given up while its value was being sent");
}

// ---- the end

TEST_F(SessionBaseTest, AtTheEndEachOpenRequestFailsOnceAndTheFirstReasonCounts) {
  become_ready();
  const Ticket left = submit("left");
  const Ticket half = submit("half");
  const Ticket kept = submit("kept");
  const Ticket cancelled = submit("cancelled");
  take(6 + 2);  // "left \n", and two bytes of the next
  session.close(now());
  session.on_eof(now());
  EXPECT_EQ(session.cancel(cancelled, now()), Sent::no);
  poll();
  EXPECT_EQ(next(), (Seen{Event::Kind::failed, left, "", Sent::maybe}));
  EXPECT_EQ(next(), (Seen{Event::Kind::failed, half, "", Sent::no}));
  EXPECT_EQ(next(), (Seen{Event::Kind::failed, kept, "", Sent::no}));
  expect_closed(Reason::closed, "closed by this client");
}

TEST_F(SessionBaseTest, TheEndOfTheStreamIsNamedByWhenItCame) {
  {
    LineSession early(usual());
    early.start(now());
    early.on_eof(now());
    EXPECT_EQ(early.close_reason().reason, Reason::connect_failed);
    EXPECT_EQ(
        early.close_reason().text,
        "the server ended the connection before it answered HELLO: it may expect TLS, or speak "
        "another protocol");
  }
  become_ready();
  session.on_eof(now());
  EXPECT_EQ(take(), "");
  expect_closed(Reason::connection_lost, "the server ended the connection");
}

TEST_F(SessionBaseTest, AFarewellGoesOnlyToAServerThatHasLetUsIn) {
  session.start(now());
  take();
  session.close(now());
  EXPECT_EQ(take(), "");
  LineSession accepted(usual());
  accepted.start(now());
  accepted.on_output(6, now());
  const std::span<std::byte> space = accepted.input_space();
  std::copy_n(reinterpret_cast<const std::byte*>("HALF\n"), 5, space.begin());
  accepted.on_input(5, now());
  Event event;
  EXPECT_FALSE(accepted.poll_event(event));
  accepted.close(now());
  EXPECT_EQ(as_text(accepted.poll_output()[0]), "BYE\n");
}

TEST_F(SessionBaseTest, TheLastReplyIsSeenBeforeTheEnd) {
  become_ready();
  const Ticket first = submit("a");
  const Ticket second = submit("b");
  take();
  const std::string_view bytes = "LAST\nnever\n";
  const std::span<std::byte> space = session.input_space();
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), space.begin());
  session.on_input(bytes.size(), now());
  Event event;
  ASSERT_TRUE(session.poll_event(event));
  EXPECT_EQ(event.ticket, first);
  EXPECT_EQ(session.room(), 0u) << "it is about to end";
  poll();
  EXPECT_EQ(next(), (Seen{Event::Kind::failed, second, "", Sent::maybe}));
  expect_closed(Reason::protocol_error, "the server gave up");
}

// ---- memory

TEST_F(SessionBaseTest, WithoutMemoryASubmitIsRefusedAndTheRestEndsTheConnection) {
  become_ready();
  const std::string key(100'000, 'k');
  Operation operation;
  operation.key = key;
  {
    const Scarce memory(0);
    const auto refused = session.submit(operation, now());
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().reason, Reason::out_of_memory);
    EXPECT_FALSE(session.closed());
    session.on_eof(now());
    EXPECT_EQ(session.close_reason().reason, Reason::out_of_memory) << "no memory for a sentence";
  }
  LineSession fresh(usual());
  fresh.start(now());
  const Scarce memory(0);
  EXPECT_TRUE(fresh.input_space().empty());
  EXPECT_EQ(fresh.close_reason().reason, Reason::out_of_memory);
}

// ---- memory of an idle connection

class SharingSession : public SessionBaseTest {
 protected:
  SharingSession() {
    session.share_input(shared);
    become_ready();
  }
  // A request with a large value, and a reply that comes in two pieces.
  void talk() {
    submit("key", std::string(6'000, 'v'));
    take();
    const std::string reply(6'000, 'r');
    for (std::string_view rest = reply; !rest.empty();) {
      const std::string_view part = rest.substr(0, session.input_space().size());
      feed(part);
      rest.remove_prefix(part.size());
    }
    feed("\n");
    EXPECT_EQ(next().value, reply);
  }

  SharedInput shared;
};

TEST_F(SharingSession, GivesItsMemoryBackWhenNothingHasComeForAWhile) {
  talk();
  EXPECT_GE(session.input_capacity(), 6'000u);
  EXPECT_GE(session.output_capacity(), 6'000u);
  const Deadline idle_since = elapsed;
  EXPECT_LE(session.poll_deadline(), idle_since + ConnectionLife::idle_limit);
  pass(ConnectionLife::idle_limit - 1ns);
  EXPECT_GE(session.input_capacity(), 6'000u);
  pass(1ns);
  EXPECT_EQ(session.input_capacity(), 0u);
  EXPECT_LT(session.output_capacity(), 100u);
  take();
  feed("PONG\n");
  talk();
}

TEST_F(SharingSession, KeepsItsMemoryWhileItIsUsed) {
  talk();
  const std::size_t input = session.input_capacity();
  const std::size_t output = session.output_capacity();
  for (int i = 0; i < 50; ++i) {
    elapsed += 1s;
    session.on_deadline(now());
    EXPECT_EQ(session.input_capacity(), input);
    EXPECT_EQ(session.output_capacity(), output);
    talk();
  }
}

TEST_F(SharingSession, EndsIfThereIsNoMemoryForHalfAReply) {
  submit("key");
  take();
  const std::string_view half = "half a reply";
  const auto space = session.input_space();
  std::copy_n(reinterpret_cast<const std::byte*>(half.data()), half.size(), space.begin());
  session.on_input(half.size(), now());
  Event event;
  {
    const Scarce scarce(0);
    EXPECT_TRUE(session.poll_event(event));
  }
  EXPECT_EQ(event.kind, Event::Kind::failed);
  expect_closed(Reason::out_of_memory, "out of memory");
}

}  // namespace
}  // namespace sheaf::protocol
