// Fencing tokens: exactly as the protocol page says, and the option that closes its gap.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "store/engine/retained_fences.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

const std::string fence_required = error_line("a fencing token is required for this request");
const std::string fence_stale = error_line(
    "the request fencing token is a lower version than the fencing token protecting the resource");
const std::string clock_skew = error_line(
    "the request fencing token timestamp is too far in the future; ensure that the client and "
    "broker system clocks are synchronized");

std::string token(std::uint64_t counter, std::string_view node = "StateStore") {
  return stamp(golden_wall - 1s, counter, node);
}

TEST(EngineFences, ATokenOfASetProtectsTheKey) {
  Store store;
  EXPECT_EQ(store.ask({"SET", "key", "a"}, token(5)).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "b"}).payload, fence_required);
  EXPECT_EQ(store.ask({"DEL", "key"}).payload, fence_required);
  EXPECT_EQ(store.ask({"VDEL", "key", "a"}).payload, fence_required);
  EXPECT_EQ(store.ask({"SET", "key", "b"}, token(4)).payload, fence_stale);
  EXPECT_EQ(store.ask({"DEL", "key"}, token(4)).payload, fence_stale);
  EXPECT_EQ(store.ask({"VDEL", "key", "a"}, token(4)).payload, fence_stale);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$1\r\na\r\n");
}

TEST(EngineFences, AnEqualOrNewerTokenIsAcceptedAndTheNewerStays) {
  Store store;
  store.ask({"SET", "key", "a"}, token(5));
  EXPECT_EQ(store.ask({"SET", "key", "b"}, token(5)).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "c"}, token(6)).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "d"}, token(5)).payload, fence_stale);
  EXPECT_EQ(store.ask({"VDEL", "key", "c"}, token(6)).payload, ":1\r\n");
}

TEST(EngineFences, TokensAreComparedByValueAndNotByText) {
  Store store;
  store.ask({"SET", "key", "a"}, "001696374424000:00009:StateStore");
  EXPECT_EQ(store.ask({"SET", "key", "b"}, "1696374424000:9:StateStore").payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "c"}, "1696374424000:10:StateStore").payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "d"}, "1696374424000:9:StateStore").payload, fence_stale);
}

TEST(EngineFences, TheNodeDecidesBetweenEqualNumbers) {
  Store store;
  store.ask({"SET", "key", "a"}, token(5, "b"));
  EXPECT_EQ(store.ask({"SET", "key", "b"}, token(5, "a")).payload, fence_stale);
  EXPECT_EQ(store.ask({"SET", "key", "b"}, token(5, "c")).payload, "+OK\r\n");
}

TEST(EngineFences, DelAndVdelStoreNoToken) {
  Store store;
  store.ask({"SET", "key", "a"});
  EXPECT_EQ(store.ask({"VDEL", "key", "x"}, token(5)).payload, ":-1\r\n");
  EXPECT_EQ(store.ask({"DEL", "absent"}, token(5)).payload, ":0\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "b"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "absent", "b"}).payload, "+OK\r\n");
}

TEST(EngineFences, ATokenThatIsNotAppliedRaisesNoFence) {
  Store store;
  store.ask({"SET", "key", "a"}, token(5));
  EXPECT_EQ(store.ask({"SET", "key", "b", "NX"}, token(9)).payload, ":-1\r\n");
  EXPECT_EQ(store.ask({"VDEL", "key", "x"}, token(9)).payload, ":-1\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "b"}, token(5)).payload, "+OK\r\n");
}

TEST(EngineFences, GetAndKeyNotifyIgnoreTokens) {
  Store store;
  store.ask({"SET", "key", "a"}, token(5));
  for (const char* fence : {"", "nonsense", "18446744073709551615:0:x", "0:0:x"}) {
    EXPECT_EQ(store.ask({"GET", "key"}, fence).payload, "$1\r\na\r\n") << fence;
    EXPECT_EQ(store.ask({"KEYNOTIFY", "key"}, fence).payload, "+OK\r\n") << fence;
  }
}

TEST(EngineFences, AMalformedTokenIsRefusedOnEveryWrite) {
  Store store;
  EXPECT_EQ(store.ask({"SET", "key", "a"}, "x").payload, error_line("malformed timestamp"));
  EXPECT_EQ(store.ask({"DEL", "key"}, "1:2").payload, error_line("malformed timestamp"));
  EXPECT_EQ(store.ask({"VDEL", "key", "a"}, "").payload, error_line("malformed timestamp"));
  EXPECT_EQ(store.ask({"SET", "key", "a"}, "1:2:").payload, error_line("malformed timestamp"));
  EXPECT_EQ(store.ask({"DEL", "key"}, "1:2:3:4").payload, error_line("malformed timestamp"));
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineFences, ATokenMoreThanAMinuteAheadHasItsOwnError) {
  Store store;
  const std::string ahead = stamp(golden_wall + 60s + 1ms, 0, "x");
  EXPECT_EQ(store.ask({"SET", "key", "a"}, ahead).payload, clock_skew);
  EXPECT_EQ(store.ask({"DEL", "key"}, ahead).payload, clock_skew);
  EXPECT_EQ(store.ask({"VDEL", "key", "a"}, ahead).payload, clock_skew);
  EXPECT_EQ(store.ask({"SET", "key", "a"}, stamp(golden_wall + 60s, 0, "x")).payload, "+OK\r\n");
}

TEST(EngineFences, ATokenAtTheLimitWhoseSuccessorIsNotLegalIsRefused) {
  Store store;
  const std::string last = stamp(golden_wall + 60s, 4'000'000'000, "x");
  EXPECT_EQ(store.ask({"SET", "key", "a"}, last).payload, clock_skew);
}

TEST(EngineFences, ChecksComeInTheirOrder) {
  Store store;
  store.ask({"SET", "key", "a"}, token(5));
  const std::string ahead = stamp(golden_wall + 61s, 0, "x");
  Ask ask{.payload = payload_of({"SET", "key", "b", "NX"}), .timestamp = ahead, .fence = "x"};
  EXPECT_NE(store.send(ask).payload.find("the request timestamp is too far"), std::string::npos);
  ask.timestamp = "bad";
  EXPECT_EQ(store.send(ask).payload, error_line("malformed timestamp"));
  ask.timestamp = std::nullopt;
  ask.fence = ahead;
  EXPECT_EQ(store.send(ask).payload, clock_skew);
  ask.fence = token(4);
  EXPECT_EQ(store.send(ask).payload, fence_stale);  // before the condition
  ask.fence = token(5);
  EXPECT_EQ(store.send(ask).payload, ":-1\r\n");
}

TEST(EngineFences, TheFenceGoesWithTheKey) {
  Store store;
  store.ask({"SET", "key", "a"}, token(5));
  EXPECT_EQ(store.ask({"DEL", "key"}, token(5)).payload, ":1\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "b"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "c"}, token(1)).payload, "+OK\r\n");
}

TEST(EngineFences, TheFenceGoesWithAnExpiredKeyToo) {
  Store store;
  store.ask({"SET", "key", "a", "PX", "1000"}, token(5));
  store.pass(1s);
  EXPECT_EQ(store.ask({"SET", "key", "b"}, token(1)).payload, "+OK\r\n");
}

TEST(EngineFences, AnAcceptedTokenIsBelowEveryLaterVersion) {
  Store store;
  const std::string fast =
      stamp(golden_wall + 50s, 3, "StateStore");  // from a broker whose clock is fast
  store.ask({"SET", "key", "a"}, fast);
  EXPECT_GT(store.ask({"SET", "lock", "me"}).timestamp, fast);
}

// The page's gap: a holder that has lost its lock can write again once the key was deleted.
TEST(EngineFences, ByDefaultAStaleHolderWritesAgainAfterADelete) {
  Store store;
  store.ask({"SET", "key", "A"}, token(1));
  store.ask({"SET", "key", "B"}, token(2));
  store.ask({"DEL", "key"}, token(2));
  EXPECT_EQ(store.ask({"SET", "key", "A"}, token(1)).payload, "+OK\r\n");
}

// ---- fence_retention

Store retaining(milliseconds retention) {
  EngineOptions options;
  options.fence_retention = retention;
  return Store(options);
}

TEST(EngineFenceRetention, RefusesALowerTokenAfterADelete) {
  Store store = retaining(90s);
  store.ask({"SET", "key", "A"}, token(1));
  store.ask({"SET", "key", "B"}, token(2));
  store.ask({"DEL", "key"}, token(2));
  EXPECT_EQ(store.ask({"SET", "key", "A"}, token(1)).payload, fence_stale);
  EXPECT_EQ(store.ask({"DEL", "key"}, token(1)).payload, fence_stale);
  EXPECT_EQ(store.ask({"VDEL", "key", "A"}, token(1)).payload, fence_stale);
  EXPECT_EQ(store.ask({"SET", "key", "C"}, token(2)).payload, "+OK\r\n");
}

TEST(EngineFenceRetention, AcceptsRequestsWithoutATokenAsThePageSays) {
  Store store = retaining(90s);
  store.ask({"SET", "key", "A"}, token(2));
  store.ask({"DEL", "key"}, token(2));
  EXPECT_EQ(store.ask({"SET", "key", "B"}).payload, "+OK\r\n");
  EXPECT_EQ(store.ask({"SET", "key", "A"}, token(1)).payload, fence_stale);
  EXPECT_EQ(store.ask({"DEL", "key"}).payload, ":1\r\n");
}

TEST(EngineFenceRetention, EndsWithItsTimeAndCountsFromTheRemoval) {
  Store store = retaining(90s);
  store.ask({"SET", "key", "A", "PX", "10000"}, token(2));
  store.pass(10s);
  store.engine.tick(store.now);
  store.pass(90s - 1ms);
  const std::string old = stamp(golden_wall - 1s, 1, "StateStore");
  EXPECT_EQ(store.ask({"SET", "key", "A"}, old).payload, fence_stale);
  store.pass(1ms);
  EXPECT_EQ(store.ask({"SET", "key", "A"}, old).payload, "+OK\r\n");
}

TEST(EngineFenceRetention, TickForgetsWhatIsTooOld) {
  Store store = retaining(90s);
  store.ask({"SET", "key", "A"}, token(2));
  store.ask({"DEL", "key"}, token(2));
  store.pass(90s - 1ms);
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.remembered_fences(), 1u);
  store.pass(1ms);
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.remembered_fences(), 0u);
}

TEST(RetainedFences, BytesAreBoundedAndGivenBack) {
  RetainedFences fences(90s, 1000, 100, 5);
  const Fence fence({1, 2, "0123456789"});
  for (int i = 0; i < 50; ++i) {
    const std::string key(static_cast<std::size_t>(1 + i % 7), static_cast<char>('a' + i % 20));
    fences.keep(key, fence, Deadline(i));
    ASSERT_NE(fences.find(key, Deadline(i)), nullptr);
    ASSERT_LE(fences.size(), 9u);
    ASSERT_GE(fences.size(), std::min<std::size_t>(static_cast<std::size_t>(i) + 1, 5));
  }
  fences.keep(std::string(91, 'k'), fence, Deadline(50));
  EXPECT_EQ(fences.find(std::string(91, 'k'), Deadline(50)), nullptr);
}

TEST(EngineFenceRetention, KeepsTheNewestFenceOfAKey) {
  Store store = retaining(90s);
  store.ask({"SET", "key", "A"}, token(1));
  store.ask({"DEL", "key"}, token(1));
  store.ask({"SET", "key", "B"}, token(5));
  store.ask({"DEL", "key"}, token(5));
  EXPECT_EQ(store.ask({"SET", "key", "C"}, token(4)).payload, fence_stale);
}

TEST(EngineFenceRetention, ForgetsTheOldestBeyondTheQuotaOfKeys) {
  EngineOptions options;
  options.fence_retention = 90s;
  options.max_keys = 2;
  Store store(options);
  for (const char* key : {"a", "b", "c"}) {
    store.ask({"SET", key, "v"}, token(5));
    store.ask({"DEL", key}, token(5));
  }
  EXPECT_EQ(store.ask({"SET", "c", "v"}, token(1)).payload, fence_stale);
  EXPECT_EQ(store.ask({"SET", "b", "v"}, token(1)).payload, fence_stale);
  EXPECT_EQ(store.ask({"SET", "a", "v"}, token(1)).payload, "+OK\r\n");
}

}  // namespace
}  // namespace sheaf::store
