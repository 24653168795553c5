// Watched keys: CLIENT TRACKING and its pushes, and servers that have neither.

#include <gtest/gtest.h>

#include "tests/protocol/resp/session_harness.h"

namespace sheaf::protocol::resp {
namespace {

std::string invalidate(const std::vector<std::string>& keys) {
  std::string push = ">2\r\n" + bulk("invalidate") + "*" + std::to_string(keys.size()) + "\r\n";
  for (const std::string& key : keys) push += bulk(key);
  return push;
}

// The notifications as text: the keys, or "*" for every key.
class RespWatch : public testing::Test {
 protected:
  // Gives bytes in reads of at most `step`. A reply is noted as "reply", or as "polls" if it says
  // so.
  void feed(ReadyWire& wire, std::string_view bytes, std::size_t step = 1'000) {
    while (!bytes.empty() && !wire.session.closed()) {
      const std::span<std::byte> space = wire.session.input_space();
      const std::size_t size = std::min({bytes.size(), space.size(), step});
      std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), size, space.begin());
      bytes.remove_prefix(size);
      wire.session.on_input(size, wire.now());
      Event event;
      while (wire.session.poll_event(event)) seen.push_back(text_of(event));
    }
  }
  static std::string text_of(const Event& event) {
    if (event.kind == Event::Kind::notification) {
      EXPECT_EQ(event.notification.kind, Notification::Kind::touched);
      EXPECT_FALSE(event.notification.value);
      EXPECT_EQ(event.notification.version, "");
      return event.notification.key.empty() ? "*" : std::string(event.notification.key);
    }
    if (event.kind != Event::Kind::reply) return "end";
    if (event.reply.status != Status::done) return std::string(event.reply.text);
    return event.reply.polls ? "polls" : "reply";
  }
  std::vector<std::string> take() { return std::exchange(seen, {}); }
  // Watches one key on a server that tracks.
  void watch(ReadyWire& wire, std::string_view key) {
    wire.submit(operation(Verb::watch, key));
    wire.take();
  }
  using Lines = std::vector<std::string>;

  std::vector<std::string> seen;
};

TEST_F(RespWatch, TheFirstWatchAsksForNotificationsAndEachReadsItsKey) {
  ReadyWire wire;
  watch(wire, "a");
  wire.submit(operation(Verb::watch, "b"));
  EXPECT_EQ(wire.sent(), "EXISTS b");
  feed(wire, "+OK\r\n:0\r\n:1\r\n");
  EXPECT_EQ(take(), (Lines{"reply", "reply"}));
  EXPECT_TRUE(wire.session.clean());
}

TEST_F(RespWatch, TrackingGoesInFront) {
  ReadyWire wire;
  wire.submit(operation(Verb::watch, "a"));
  EXPECT_EQ(wire.sent(), "CLIENT TRACKING ON; EXISTS a");
}

TEST_F(RespWatch, APushNamesTheKeysThatWereTouched) {
  ReadyWire wire;
  watch(wire, "a");
  feed(wire, "+OK\r\n:0\r\n");
  take();
  wire.submit(get("other"));
  wire.take();
  feed(wire, invalidate({"a"}) + "$1\r\nv\r\n" + invalidate({"b", "", "c"}) + invalidate({}));
  EXPECT_EQ(take(), (Lines{"a", "reply", "b", "c"}));
  EXPECT_EQ(wire.session.counters().bad_notifications, 0u);
}

TEST_F(RespWatch, APushOfNullIsAboutEveryKey) {
  ReadyWire wire;
  watch(wire, "a");
  feed(wire, "+OK\r\n:0\r\n>2\r\n" + bulk("invalidate") + "_\r\n");
  EXPECT_EQ(take(), (Lines{"reply", "*"}));
}

TEST_F(RespWatch, PushesMayComeInAnyPieces) {
  for (std::size_t step = 1; step < 40; ++step) {
    ReadyWire wire;
    watch(wire, "a");
    feed(wire, "+OK\r\n:0\r\n" + invalidate({"a", "bb"}) + invalidate({"ccc"}), step);
    EXPECT_EQ(take(), (Lines{"reply", "a", "bb", "ccc"})) << step;
  }
}

TEST_F(RespWatch, AnUnwatchIsANoOp) {
  ReadyWire wire;
  watch(wire, "a");
  feed(wire, "+OK\r\n:0\r\n");
  wire.submit(operation(Verb::unwatch, "a"));
  EXPECT_EQ(wire.sent(), "PING");
  feed(wire, "+PONG\r\n");
  EXPECT_EQ(take(), (Lines{"reply", "reply"}));
}

// Garnet 2.2.8; a login without the right; RESP2, which has no pushes.
TEST_F(RespWatch, WhereTheServerDoesNotNotifyTheAnswerSaysSo) {
  for (const std::string_view refusal :
       {"-ERR unknown subcommand 'TRACKING'.\r\n", "-NOPERM User x has no permissions\r\n"}) {
    ReadyWire wire(Server::garnet);
    watch(wire, "a");
    feed(wire, std::string(refusal) + ":1\r\n");
    wire.submit(operation(Verb::watch, "b"));
    EXPECT_EQ(wire.sent(), "EXISTS b");
    feed(wire, ":0\r\n" + invalidate({"a"}));  // not from a server that refused it
    EXPECT_EQ(take(), (Lines{"polls", "polls"}));
    EXPECT_EQ(wire.session.counters().bad_notifications, 1u);
  }
  for (const Server server : {Server::redis_resp2, Server::old_redis, Server::unknown}) {
    ReadyWire wire(server);
    wire.submit(operation(Verb::watch, "a"));
    EXPECT_EQ(wire.sent(), "EXISTS a");
    feed(wire, ":1\r\n");
    EXPECT_EQ(take(), Lines{"polls"});
  }
}

TEST_F(RespWatch, ARedirectIsTheAnswerToTheWatchAlone) {
  ReadyWire wire;
  watch(wire, "a");
  feed(wire, "+OK\r\n-MOVED 15495 10.0.0.1:7000\r\n");
  EXPECT_EQ(take(), Lines{"MOVED 15495 10.0.0.1:7000"});
  EXPECT_FALSE(wire.session.closed());
}

TEST_F(RespWatch, OtherPushesAreDropped) {
  ReadyWire wire;
  watch(wire, "a");
  feed(wire, "+OK\r\n:0\r\n");
  take();
  const std::string strange[] = {
      ">3\r\n" + bulk("message") + bulk("c") + bulk("m"),
      ">1\r\n" + bulk("invalidate"),
      ">2\r\n" + bulk("invalidate") + ":7\r\n",
      ">2\r\n" + bulk("invalidate") + "*1\r\n:7\r\n",
      ">3\r\n" + bulk("invalidate") + "*1\r\n" + bulk("a") + ":7\r\n",
      ">0\r\n",
  };
  std::uint64_t dropped = 0;
  for (const std::string& push : strange) {
    feed(wire, push);
    EXPECT_EQ(take(), Lines{}) << push;
    EXPECT_EQ(wire.session.counters().bad_notifications, ++dropped);
  }
  feed(wire, invalidate({"a"}));
  EXPECT_EQ(take(), Lines{"a"});
}

TEST_F(RespWatch, AnAnswerOfAnotherTypeEndsTheConnection) {
  for (const std::string_view answer : {":1\r\n:1\r\n", "+OK\r\n+OK\r\n", "+OK\r\n:2\r\n"}) {
    ReadyWire wire;
    watch(wire, "a");
    feed(wire, answer);
    EXPECT_TRUE(wire.session.closed()) << answer;
    EXPECT_EQ(take(), (Lines{"end", "end"})) << answer;
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
