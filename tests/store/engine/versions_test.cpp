// Timestamps: versions that never go back, clock skew, and wall clocks that step.

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/random.h"
#include "protocol/statestore/clock.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

using protocol::statestore::parse_timestamp;
using protocol::statestore::too_far_ahead;

constexpr std::string_view node_id = "StateStore";
const std::string far_ahead = error_line(
    "the request timestamp is too far in the future; ensure that the client and broker system "
    "clocks are synchronized");

Got set_at(Store& store, const std::string& timestamp, const std::string& key = "key") {
  return store.send(Ask{.payload = payload_of({"SET", key, "v"}), .timestamp = timestamp});
}

TEST(EngineVersions, AreGreaterThanTheRequestsTimestampWhoeverWroteIt) {
  Store store;
  EXPECT_EQ(set_at(store, stamp(golden_wall + 10s, 7, "CLIENT")).timestamp,
            stamp(golden_wall + 10s, 8, node_id));
  // From the store's own node, with a counter that is ahead: still greater.
  EXPECT_EQ(set_at(store, stamp(golden_wall + 20s, 3, node_id)).timestamp,
            stamp(golden_wall + 20s, 4, node_id));
}

TEST(EngineVersions, AreOneOrderForTheWholeStore) {
  Store store;
  set_at(store, stamp(golden_wall + 30s, 5, "CLIENT"), "a");
  EXPECT_EQ(set_at(store, "0:0:CLIENT", "b").timestamp, stamp(golden_wall + 30s, 7, node_id));
}

TEST(EngineVersions, AnOldTimestampIsFine) {
  Store store;
  EXPECT_EQ(set_at(store, "0:0:CLIENT").timestamp, stamp(golden_wall, 0, node_id));
  EXPECT_EQ(set_at(store, "1:0:n").timestamp, stamp(golden_wall, 1, node_id));
}

TEST(EngineVersions, SetWithoutATimestampIsRefused) {
  Store store;
  Ask ask{.payload = payload_of({"SET", "key", "v"}), .without_timestamp = true};
  EXPECT_EQ(store.send(ask).payload, error_line("missing timestamp"));
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineVersions, OtherRequestsNeedNoTimestamp) {
  Store store;
  store.ask({"SET", "key", "v"});
  const auto ask = [&](const std::vector<std::string>& items) {
    return store.send(Ask{.payload = payload_of(items), .without_timestamp = true}).payload;
  };
  EXPECT_EQ(ask({"GET", "key"}), "$1\r\nv\r\n");
  EXPECT_EQ(ask({"KEYNOTIFY", "key"}), "+OK\r\n");
  EXPECT_EQ(ask({"VDEL", "key", "x"}), ":-1\r\n");
  EXPECT_EQ(ask({"DEL", "key"}), ":1\r\n");
}

TEST(EngineVersions, AMalformedTimestampIsRefusedOnEveryRequest) {
  for (const char* timestamp :
       {"", "1", "1:2", "a:0:n", "1:b:n", "-1:0:n", "1.5:0:n", "1:2:", "1:2:3:4", "1:2::n"}) {
    for (const std::vector<std::string>& items :
         std::vector<std::vector<std::string>>{{"SET", "k", "v"},
                                               {"GET", "k"},
                                               {"DEL", "k"},
                                               {"VDEL", "k", "v"},
                                               {"KEYNOTIFY", "k"}}) {
      Store store;
      Ask ask{.payload = payload_of(items), .timestamp = timestamp};
      EXPECT_EQ(store.send(ask).payload, error_line("malformed timestamp"))
          << timestamp << items[0];
    }
  }
}

TEST(EngineVersions, ATimestampMoreThanAMinuteAheadIsRefusedOnEveryRequest) {
  for (const std::vector<std::string>& items : std::vector<std::vector<std::string>>{
           {"SET", "k", "v"}, {"GET", "k"}, {"DEL", "k"}, {"VDEL", "k", "v"}, {"KEYNOTIFY", "k"}}) {
    Store store;
    Ask ask{.payload = payload_of(items)};
    ask.timestamp = stamp(golden_wall + 60s + 1ms, 0, "CLIENT");
    EXPECT_EQ(store.send(ask).payload, far_ahead) << items[0];
    ask.timestamp = "18446744073709551615:0:CLIENT";
    EXPECT_EQ(store.send(ask).payload, far_ahead) << items[0];
    ask.timestamp = stamp(golden_wall + 60s, 0, "CLIENT");
    EXPECT_NE(store.send(ask).payload, far_ahead) << items[0];
  }
}

TEST(EngineVersions, AnExhaustedCounterMovesTheWallPartOn) {
  Store store;
  EXPECT_EQ(set_at(store, stamp(golden_wall, 4'000'000'000, "CLIENT")).timestamp,
            stamp(golden_wall + 1ms, 0, node_id));
  EXPECT_EQ(set_at(store, stamp(golden_wall + 60s, 4'000'000'000, "CLIENT")).payload, far_ahead);
}

TEST(EngineVersions, DelOrdersLaterVersionsBehindItsTimestampToo) {
  Store store;
  store.ask({"SET", "key", "v"});
  store.send(Ask{.payload = payload_of({"DEL", "key"}),
                 .timestamp = stamp(golden_wall + 30s, 0, "CLIENT")});
  EXPECT_EQ(store.ask({"SET", "key", "v"}).timestamp, stamp(golden_wall + 30s, 2, node_id));
}

// ---- the wall clock steps back

TEST(EngineClockSteps, ASmallStepBackOnlyCounts) {
  Store store;
  const Got first = store.ask({"SET", "key", "a"});
  store.now.wall -= 59s;
  const Got second = store.ask({"SET", "key", "b"});
  EXPECT_EQ(second.payload, "+OK\r\n");
  EXPECT_GT(second.timestamp, first.timestamp);
  EXPECT_EQ(store.ask({"GET", "key"}).timestamp, second.timestamp);
}

TEST(EngineClockSteps, AfterALargeStepBackSetIsRefusedUntilTheWallClockHasCaughtUp) {
  Store store;
  const Got first = store.ask({"SET", "key", "a"});
  store.now.wall -= 3600s;
  EXPECT_EQ(store.ask({"SET", "key", "b"}).payload, far_ahead);
  EXPECT_EQ(store.ask({"SET", "other", "b"}).payload, far_ahead);
  EXPECT_EQ(store.ask({"SET", "key", "b", "NX"}).payload,
            far_ahead);  // even if the request would not be applied
  store.pass(3540s - 1ms);
  EXPECT_EQ(store.ask({"SET", "key", "b"}).payload, far_ahead);
  store.pass(1ms);
  const Got second = store.ask({"SET", "key", "b"});
  EXPECT_EQ(second.payload, "+OK\r\n");
  EXPECT_EQ(second.timestamp, stamp(golden_wall, 2, node_id));
  EXPECT_GT(second.timestamp, first.timestamp);
}

TEST(EngineClockSteps, GetDelAndVdelGoOnButLeaveOutAVersionThatIsTooFarAhead) {
  Store store;
  store.ask({"SET", "a", "1"});
  store.ask({"SET", "b", "2"});
  store.now.wall -= 3600s;
  EXPECT_EQ(store.ask({"GET", "a"}), (Got{Verdict::answer, "$1\r\n1\r\n", ""}));
  EXPECT_EQ(store.ask({"DEL", "a"}), (Got{Verdict::answer, ":1\r\n", ""}));
  EXPECT_EQ(store.ask({"VDEL", "b", "2"}), (Got{Verdict::answer, ":1\r\n", ""}));
}

TEST(EngineClockSteps, NotificationsOfRemovalThenCarryTheLatestLegalTimestamp) {
  Store store;
  store.ask({"KEYNOTIFY", "a"});
  store.ask({"KEYNOTIFY", "b"});
  store.ask({"SET", "a", "1"});
  store.ask({"SET", "b", "1", "PX", "5000"});
  store.notifications();
  store.now.wall -= 3600s;
  store.ask({"DEL", "a"});
  store.pass(5s);
  store.engine.tick(store.now);
  const auto heard = store.notifications();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].timestamp, stamp(golden_wall - 3540s, 0, node_id));
  EXPECT_EQ(heard[1].timestamp, stamp(golden_wall - 3535s, 0, node_id));
}

TEST(EngineClockSteps, ExpiryRunsOnTheMonotonicClock) {
  Store store;
  store.ask({"SET", "key", "v", "PX", "1000"});
  store.now.wall += std::chrono::hours(24 * 365);
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$1\r\nv\r\n");
  store.now.wall -= std::chrono::hours(2 * 24 * 365);
  store.now.mono += 1s;
  EXPECT_EQ(store.ask({"GET", "key"}).payload, "$-1\r\n");
}

TEST(EngineClockSteps, AWallClockBeforeTheEpochIsSurvived) {
  Store store;
  store.now.wall = milliseconds(-5);
  EXPECT_EQ(set_at(store, "0:0:CLIENT").timestamp, stamp(0ms, 1, node_id));
  Ask ask{.payload = payload_of({"KEYNOTIFY", "key"}), .without_timestamp = true};
  EXPECT_EQ(store.send(ask).payload, "+OK\r\n");
  ask.payload = payload_of({"DEL", "key"});
  EXPECT_EQ(store.send(ask).payload, ":1\r\n");
  EXPECT_EQ(store.notifications().size(), 1u);
}

TEST(EngineClockSteps, VersionsStayInOrderAndLegalUnderEveryStep) {
  Random random(11);
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  std::string last;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    store.pass(milliseconds(random.below(2000)));
    if (random.below(100) == 0) store.now.wall += milliseconds(random.below(400'000));
    if (random.below(100) == 0) store.now.wall -= milliseconds(random.below(400'000));
    Ask ask{.payload = payload_of({"SET", "key", std::to_string(i)})};
    if (random.below(4) == 0) ask.payload = payload_of({"DEL", "key"});
    const milliseconds client = store.now.wall + milliseconds(random.below(120'000)) - 60s;
    ask.timestamp = stamp(client, random.below(3), "CLIENT");
    if (random.below(3) == 0)
      ask.fence = stamp(client + milliseconds(random.below(90'000)) - 60s, 0, "F");
    const Got got = store.send(ask);
    if (got.payload == far_ahead) ++refused;
    if (got.payload == "+OK\r\n") {
      EXPECT_GT(got.timestamp, last);
      EXPECT_GT(got.timestamp, *ask.timestamp);
      EXPECT_GT(got.timestamp, ask.fence.value_or(""));
      last = got.timestamp;
    }
    for (const auto& note : store.notifications()) {
      EXPECT_FALSE(too_far_ahead(*parse_timestamp(note.timestamp), store.now.wall));
    }
    if (!got.timestamp.empty()) {
      EXPECT_FALSE(too_far_ahead(*parse_timestamp(got.timestamp), store.now.wall));
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_FALSE(last.empty());
}

}  // namespace
}  // namespace sheaf::store
