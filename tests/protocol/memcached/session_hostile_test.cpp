// A whole conversation cut at every byte, ended at every byte, and damaged at random. Each ticket
// gets at most one event before the end, and exactly one in total.

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "tests/protocol/memcached/session_harness.h"

namespace sheaf::protocol::memcached {
namespace {

// The same requests in both protocols, and a server's answers to them.
struct BinaryTalk {
  using Session = BinarySession;
  static std::vector<std::string> greeting() { return {binary_version(1), binary_no_op(2)}; }
  static std::string answers() {
    return binary_hit(Opcode::get, 3, "A\r\nEN O4\r\n") +
           binary_failure(Opcode::get, 4, StatusCode::key_not_found, "Not found") +
           binary_hit(Opcode::get_quiet, 5, "B\r\nEND\r\n") +
           binary_hit(Opcode::get_quiet, 7, std::string(5'000, 'x')) +
           binary_hit(Opcode::get_quiet, 8, "") +
           binary_hit(Opcode::get_quiet, 9, "C\r\nEN O4\r\n") + binary_no_op(10) +
           binary_failure(Opcode::set, 11, StatusCode::value_too_large, "Too large.") +
           encoded(PlainReply{.opcode = Opcode::remove, .opaque = 12}) +
           encoded(ArithmeticReply{.opaque = 13, .cas = 3, .number = 12}) +
           encoded(StatReply{.opaque = 14, .name = "pid", .value = "1"}) +
           encoded(StatReply{.opaque = 14}) +
           binary_failure(Opcode::get, 15, StatusCode::key_not_found, "Not found");
  }
};
struct MetaTalk {
  using Session = MetaSession;
  static std::vector<std::string> greeting() { return {"VERSION 1.6.18\r\n"}; }
  static std::string answers() {
    return "VA 10 f0 c7 O2\r\nA\r\nEN O4\r\n\r\nEN O3\r\nVA 8 f0 c7 O4\r\nB\r\nEND\r\n\r\n"
           "VALUE m3 0 5000 1\r\n" +
           std::string(5'000, 'x') +
           "\r\nVALUE m4 0 0 1\r\n\r\nVALUE m5 0 10 7\r\nC\r\nEN O4\r\n\r\nEND\r\n"
           "SERVER_ERROR object too large for cache\r\nHD O6\r\nVA 2 c3 O7\r\n12\r\n"
           "MN\r\nSTAT pid 1\r\nEND\r\nEN O9\r\n";
  }
};

template <class Talk>
struct Conversation {
  Wire<typename Talk::Session> wire{small_values()};
  const std::vector<std::string_view> keys = {"m1", "m2", "m3", "m4", "m5"};
  std::vector<Ticket> tickets;

  static SessionOptions small_values() {
    SessionOptions options = test_options();
    options.value_limit = 4'000;
    return options;
  }
  // Runs up to the point where all requests have left.
  explicit Conversation(std::size_t step = static_cast<std::size_t>(-1)) {
    wire.session.start(wire.now());
    wire.take();
    for (const std::string& bytes : Talk::greeting()) {
      wire.feed(bytes, step);
      wire.take();
    }
    for (const char* key : {"a", "b"}) tickets.push_back(wire.submit(get(key)));
    tickets.push_back(wire.submit(many(keys)));
    tickets.push_back(wire.submit(set("d", "value")));
    tickets.push_back(wire.submit(operation(Verb::remove, "e")));
    tickets.push_back(wire.submit(operation(Verb::increment, "f")));
    tickets.push_back(wire.submit(operation(Verb::stats)));
    tickets.push_back(wire.submit(get("g")));
    wire.take();
    wire.next();  // ready
  }
  std::vector<Seen> seen() const { return {wire.events.begin(), wire.events.end()}; }

  // Each ticket has exactly one last event, its items come before that in ascending order, and then
  // comes closed.
  void expect_whole(const std::string& where) {
    std::map<std::uint32_t, int> counts;
    std::uint32_t next_item = 0;
    while (wire.events.size() > 1) {
      const Seen seen = wire.next();
      if (seen.kind != Event::Kind::item) {
        ++counts[seen.ticket.slot];
        continue;
      }
      ASSERT_EQ(seen.ticket, tickets[2]) << where;
      ASSERT_EQ(counts.count(seen.ticket.slot), 0u) << where;
      ASSERT_GE(seen.index, next_item) << where;
      ASSERT_LT(seen.index, keys.size()) << where;
      next_item = seen.index + 1;
    }
    ASSERT_EQ(wire.next().kind, Event::Kind::closed) << where;
    ASSERT_EQ(counts.size(), tickets.size()) << where;
    for (const auto& [slot, count] : counts) ASSERT_EQ(count, 1) << slot << ' ' << where;
  }
};

template <class Talk>
class Hostile : public testing::Test {};
struct HostileNames {
  template <class Talk>
  static std::string GetName(int) {
    return std::is_same_v<Talk, BinaryTalk> ? "Binary" : "Meta";
  }
};
using Talks = testing::Types<BinaryTalk, MetaTalk>;
TYPED_TEST_SUITE(Hostile, Talks, HostileNames);

TYPED_TEST(Hostile, AnySplitOfTheBytesGivesTheSameEvents) {
  const std::string answers = TypeParam::answers();
  Conversation<TypeParam> at_once;
  at_once.wire.feed(answers);
  const std::vector<Seen> expected = at_once.seen();
  ASSERT_EQ(expected.size(), 8u + 4u) << at_once.wire.session.close_reason().text;
  EXPECT_EQ(expected[0].value, "A\r\nEN O4\r\n");
  EXPECT_EQ(expected[2].value, "B\r\nEND\r\n");
  const std::uint32_t items[] = {0, 2, 3, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(expected[2 + i].kind, Event::Kind::item);
    EXPECT_EQ(expected[2 + i].index, items[i]);
  }
  EXPECT_EQ(expected[5].value, "C\r\nEN O4\r\n");
  EXPECT_EQ(expected[6].kind, Event::Kind::reply);
  EXPECT_EQ(expected[6].ticket, at_once.tickets[2]);
  EXPECT_TRUE(at_once.wire.session.clean());
  for (const std::size_t step : {1u, 2u, 3u, 7u, 100u}) {
    Conversation<TypeParam> stepped(step);
    stepped.wire.feed(answers, step);
    ASSERT_EQ(stepped.seen(), expected) << step;
  }
  for (std::size_t split = 1; split < answers.size(); ++split) {
    Conversation<TypeParam> parts;
    parts.wire.feed(std::string_view(answers).substr(0, split));
    parts.wire.feed(std::string_view(answers).substr(split));
    ASSERT_EQ(parts.seen(), expected) << split;
  }
}

TYPED_TEST(Hostile, TheEndAnywhereGivesEachTicketItsOneEvent) {
  const std::string answers = TypeParam::answers();
  for (std::size_t size = 0; size <= answers.size(); ++size) {
    Conversation<TypeParam> cut;
    cut.wire.feed(std::string_view(answers).substr(0, size));
    ASSERT_FALSE(cut.wire.session.closed()) << size;
    cut.wire.session.on_eof(cut.wire.now());
    cut.wire.poll();
    cut.expect_whole(std::to_string(size));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(Hostile, DamagedBytesAreUnderstoodOrEndTheConnection) {
  Random random(7);
  int survived = 0;
  int ended = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = TypeParam::answers();
    // The long value in the middle decides little, so mostly the rest is damaged.
    const std::size_t middle = bytes.find(std::string(5'000, 'x'));
    for (std::uint64_t change = 1 + random.below(3); change > 0; --change) {
      std::size_t at = random.below(bytes.size() - 4'900);
      if (at >= middle) at += 4'900;
      switch (random.below(3)) {
        case 0:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          bytes.erase(at, 1 + random.below(3));
          break;
        default:
          bytes.insert(at, 1, static_cast<char>(random.below(256)));
      }
    }
    Conversation<TypeParam> damaged;
    damaged.wire.feed(bytes, 1 + random.below(2'000));
    ++(damaged.wire.session.closed() ? ended : survived);
    ASSERT_LT(damaged.wire.session.input_capacity(), 300'000u);
    damaged.wire.session.on_eof(damaged.wire.now());
    damaged.wire.poll();
    damaged.expect_whole("round " + std::to_string(i));
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(ended, 2'000);
  EXPECT_GT(survived, 100);
}

TYPED_TEST(Hostile, NoiseInsteadOfAGreeting) {
  Random random(8);
  for (int i = 0; i < 3'000; ++i) {
    Wire<typename TypeParam::Session> wire;
    wire.session.start(wire.now());
    wire.take();
    std::string noise(1 + random.below(200), '\0');
    random.fill(std::as_writable_bytes(std::span(noise)));
    if (random.below(2) == 0) noise.insert(0, TypeParam::greeting()[0].substr(0, random.below(30)));
    wire.feed(noise, 1 + random.below(64));
    ASSERT_FALSE(wire.session.ready() && wire.events.size() > 1);
    wire.session.on_eof(wire.now());
    wire.poll();
    ASSERT_EQ(wire.events.back().kind, Event::Kind::closed);
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
