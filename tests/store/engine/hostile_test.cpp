// Payloads and properties from a malicious peer: each gets an answer, and nothing else changes.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "protocol/statestore/packets.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

namespace wire = protocol::statestore;

std::vector<std::string> honest_payloads() {
  return {payload_of({"SET", "key", "value", "NEX", "PX", "10000"}),
          payload_of({"SET", std::string("\0\r\n\xff", 4), std::string("\x01\r\n\0", 4)}),
          payload_of({"GET", "key"}),
          payload_of({"DEL", "key"}),
          payload_of({"VDEL", "key", "value"}),
          payload_of({"KEYNOTIFY", "SOMEKEY", "STOP"})};
}

// Every answer is one line, or a value of exactly its length.
void expect_well_formed(const Got& got) {
  ASSERT_EQ(got.verdict, Verdict::answer);
  ASSERT_TRUE(got.payload.ends_with("\r\n")) << got.payload;
  if (got.payload.starts_with('$')) {
    ASSERT_TRUE(wire::GetReply::parse(got.payload)) << got.payload;
  } else {
    ASSERT_EQ(got.payload.find("\r\n"), got.payload.size() - 2) << got.payload;
  }
}

TEST(EngineHostile, EveryTruncationIsASyntaxErrorAndChangesNothing) {
  for (const std::string& payload : honest_payloads()) {
    Store store;
    for (std::size_t size = 0; size < payload.size(); ++size) {
      Ask ask{.payload = payload.substr(0, size)};
      EXPECT_EQ(store.send(ask).payload, error_line("syntax error")) << size;
    }
    EXPECT_EQ(store.engine.keys(), 0u);
    EXPECT_EQ(store.engine.watches(), 0u);
    EXPECT_EQ(store.engine.counters().errors, payload.size());
  }
}

TEST(EngineHostile, LengthsThatLieAreSyntaxErrors) {
  Store store;
  for (const char* length : {"-1", "-5", "4", "2", "18446744073709551615", "9223372036854775807",
                             "99999999999999999999", "", "0x3", "3.0", "03", "+3", " 3"}) {
    const std::string payload = "*2\r\n$3\r\nGET\r\n$" + std::string(length) + "\r\nkey\r\n";
    EXPECT_EQ(store.send(Ask{.payload = payload}).payload, error_line("syntax error")) << length;
    const std::string count = "*" + std::string(length) + "\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
    if (std::string_view(length) == "2") continue;
    EXPECT_EQ(store.send(Ask{.payload = count}).payload, error_line("syntax error")) << length;
  }
}

TEST(EngineHostile, AMillionArgumentsAreReadOnceAndRefused) {
  std::string payload = "*1000000\r\n$3\r\nSET\r\n";
  for (int i = 1; i < 1'000'000; ++i) payload += "$0\r\n\r\n";
  Store store;
  EXPECT_EQ(store.send(Ask{.payload = payload}).payload, error_line("syntax error"));
  payload.replace(payload.find("SET"), 3, "GET");
  EXPECT_EQ(store.send(Ask{.payload = payload}).payload, error_line("wrong number of arguments"));
}

TEST(EngineHostile, RandomDamageGetsAnAnswerEachTime) {
  Random random(99);
  Store store;
  const auto honest = honest_payloads();
  for (int i = 0; i < 200'000; ++i) {
    std::string payload = honest[random.below(honest.size())];
    for (std::uint64_t damage = 1 + random.below(3); damage > 0; --damage) {
      const std::size_t at = random.below(payload.size());
      switch (random.below(4)) {
        case 0:
          payload[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          payload.erase(at, 1 + random.below(4));
          break;
        case 2:
          payload.insert(at, 1, "$*\r\n0129:-"[random.below(10)]);
          break;
        default:
          payload.insert(at, payload.substr(random.below(payload.size())));
      }
      if (payload.empty()) payload = "*";
    }
    ASSERT_NO_FATAL_FAILURE(expect_well_formed(store.send(Ask{.payload = payload})));
    store.notifications();
  }
  EXPECT_EQ(store.engine.counters().requests, 200'000u);
}

TEST(EngineHostile, RandomTimestampsAndTokensGetAnAnswerEachTime) {
  Random random(7);
  Store store;
  const auto draw = [&] {
    std::string text =
        std::to_string(golden_wall.count()) + ":" + std::to_string(random.below(3)) + ":n";
    for (std::uint64_t damage = random.below(4); damage > 0; --damage) {
      text.insert(random.below(text.size() + 1), 1, "0199:-. \xff"[random.below(9)]);
    }
    if (random.below(50) == 0) text.append(70'000, 'n');
    return text;
  };
  for (int i = 0; i < 50'000; ++i) {
    Ask ask{.payload = payload_of({random.below(2) == 0 ? "SET" : "VDEL", "key", "value"}),
            .timestamp = draw()};
    if (random.below(2) == 0) ask.fence = draw();
    const Got got = store.send(ask);
    ASSERT_NO_FATAL_FAILURE(expect_well_formed(got));
    ASSERT_TRUE(got.payload != "+OK\r\n" || !got.timestamp.empty());
  }
}

TEST(EngineHostile, SixtyMebibytesOfKeyOnlyCostTheQuota) {
  EngineOptions options;
  options.max_bytes = 1 << 20;
  Store store(options);
  const std::string key(60 << 20, 'k');
  EXPECT_EQ(store.ask({"SET", key, ""}).payload, error_line("the quota has been exceeded"));
  EXPECT_EQ(store.ask({"KEYNOTIFY", key}).payload, error_line("syntax error"));
  EXPECT_EQ(store.ask({"GET", key}).payload, "$-1\r\n");
  EXPECT_EQ(store.ask({"KEYNOTIFY", key, "STOP"}).payload, ":0\r\n");
}

}  // namespace
}  // namespace sheaf::store
