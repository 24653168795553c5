// The filter for repeated writes: QoS 1 resends, and clients that reconnect.

#include <gtest/gtest.h>

#include <string>

#include "store/engine/duplicate_filter.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

// The timestamp is part of a request's identity, so it does not follow the clock here.
const std::string sent_at = stamp(golden_wall, 0, "CLIENT");

Ask request(const std::vector<std::string>& items, const std::string& correlation = "c1") {
  return {.payload = payload_of(items), .correlation = correlation, .timestamp = sent_at};
}

TEST(EngineDuplicates, ARepeatedIfAbsentGetsItsFirstAnswerAgain) {
  Store store;
  const Got first = store.send(request({"SET", "key", "v", "NX"}));
  EXPECT_EQ(first.payload, "+OK\r\n");
  store.pass(5s);
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})), first);
  EXPECT_EQ(store.engine.counters().executed_writes, 1u);
  EXPECT_EQ(store.engine.counters().duplicates, 1u);
}

TEST(EngineDuplicates, EveryAnswerOfAWriteIsRepeatedByteForByte) {
  Store store;
  store.ask({"SET", "key", "v"});
  const std::vector<std::vector<std::string>> writes{{"SET", "key", "w", "NX"},
                                                     {"VDEL", "key", "x"},
                                                     {"SET", "key", "w"},
                                                     {"DEL", "key"},
                                                     {"DEL", "key"},
                                                     {"SET", "fenced", "v"}};
  int correlation = 0;
  for (const auto& items : writes) {
    Ask ask = request(items, "c" + std::to_string(++correlation));
    const Got first = store.send(ask);
    store.pass(1s);
    store.ask({"SET", "key", "between" + std::to_string(correlation)});
    EXPECT_EQ(store.send(ask), first) << items[0];
  }
  EXPECT_EQ(store.engine.counters().duplicates, writes.size());
}

TEST(EngineDuplicates, ARefusalIsRepeatedTooThoughItsCauseIsGone) {
  EngineOptions options;
  options.max_keys = 1;
  Store store(options);
  store.ask({"SET", "a", "v"});
  const Got refused = store.send(request({"SET", "b", "v"}));
  EXPECT_EQ(refused.payload, error_line("the quota has been exceeded"));
  store.ask({"DEL", "a"});
  EXPECT_EQ(store.send(request({"SET", "b", "v"})), refused);
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineDuplicates, AMissingOrMalformedTimestampMayBeCorrected) {
  Store store;
  Ask ask = request({"SET", "key", "v"});
  ask.without_timestamp = true;
  EXPECT_EQ(store.send(ask).payload, error_line("missing timestamp"));
  ask.without_timestamp = false;
  ask.timestamp = "x";
  EXPECT_EQ(store.send(ask).payload, error_line("malformed timestamp"));
  ask.timestamp = std::nullopt;
  EXPECT_EQ(store.send(ask).payload, "+OK\r\n");
}

TEST(EngineDuplicates, AResendOfAReconnectedClientIsKnownByItsName) {
  Store store;
  const Got first = store.send(request({"SET", "key", "v", "NX"}));
  store.engine.disconnect(1);
  Ask again = request({"SET", "key", "v", "NX"});
  again.client = 77;
  EXPECT_EQ(store.send(again), first);
}

TEST(EngineDuplicates, AnotherClientsSameCorrelationIsItsOwnRequest) {
  Store store;
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})).payload, "+OK\r\n");
  Ask other = request({"SET", "key", "v", "NX"});
  other.client_id = "client-id2";
  other.client = 2;
  EXPECT_EQ(store.send(other).payload, ":-1\r\n");
  EXPECT_EQ(store.engine.counters().duplicates, 0u);
}

TEST(EngineDuplicates, BordersBetweenNameAndCorrelationCount) {
  Store store;
  Ask one = request({"SET", "key", "v", "NX"}, "bc");
  one.client_id = "a";
  Ask two = request({"SET", "key", "v", "NX"}, "c");
  two.client_id = "ab";
  EXPECT_EQ(store.send(one).payload, "+OK\r\n");
  EXPECT_EQ(store.send(two).payload, ":-1\r\n");
}

TEST(EngineDuplicates, AnotherPayloadUnderTheSameCorrelationIsAnotherRequest) {
  Store store;
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})).payload, "+OK\r\n");
  EXPECT_EQ(store.send(request({"SET", "key", "w", "NX"})).payload, ":-1\r\n");
  EXPECT_EQ(store.send(request({"DEL", "key"})).payload, ":1\r\n");
}

TEST(EngineDuplicates, ALockRenewedUnderTheSameCorrelationIsRenewed) {
  Store store;
  Ask renew = request({"SET", "lock", "me", "NEX", "PX", "10000"});
  const Got first = store.send(renew);
  store.pass(9s);
  renew.timestamp = stamp(store.now.wall, 0, "CLIENT");
  const Got second = store.send(renew);
  EXPECT_EQ(second.payload, "+OK\r\n");
  EXPECT_GT(second.timestamp, first.timestamp);
  store.pass(9s);  // past the first lease, within the second
  EXPECT_EQ(store.ask({"GET", "lock"}).payload, "$2\r\nme\r\n");
  EXPECT_EQ(store.engine.counters().duplicates, 0u);
}

TEST(EngineDuplicates, RemovingAgainUnderTheSameCorrelationRemoves) {
  Store store;
  store.ask({"SET", "key", "v"});
  Ask remove = request({"DEL", "key"});
  EXPECT_EQ(store.send(remove).payload, ":1\r\n");
  Ask set = request({"SET", "key", "w"});
  set.timestamp = stamp(golden_wall, 1, "CLIENT");
  EXPECT_EQ(store.send(set).payload, "+OK\r\n");
  remove.timestamp = stamp(golden_wall, 2, "CLIENT");
  EXPECT_EQ(store.send(remove).payload, ":1\r\n");
  EXPECT_EQ(store.engine.keys(), 0u);
}

TEST(EngineDuplicates, ACorrectedClockIsNotRefusedAgain) {
  Store store;
  Ask set = request({"SET", "key", "v"});
  set.timestamp = stamp(golden_wall + 61s, 0, "CLIENT");
  const Got refused = store.send(set);
  EXPECT_EQ(refused.payload, error_line("the request timestamp is too far in the future; ensure "
                                        "that the client and broker system clocks are "
                                        "synchronized"));
  set.timestamp = sent_at;
  EXPECT_EQ(store.send(set).payload, "+OK\r\n");
}

TEST(EngineDuplicates, AnotherFencingTokenUnderTheSameCorrelationIsAnotherRequest) {
  Store store;
  store.ask({"SET", "key", "v"}, stamp(golden_wall, 5, "n"));
  const Ask without = request({"SET", "key", "w"});
  EXPECT_EQ(store.send(without).payload,
            error_line("a fencing token is required for this request"));
  Ask with = without;
  with.fence = "";
  EXPECT_EQ(store.send(with).payload, error_line("malformed timestamp"));
  with.fence = stamp(golden_wall, 4, "n");
  const Got older = store.send(with);
  EXPECT_EQ(older.payload.substr(0, 4), "-ERR");
  with.fence = stamp(golden_wall, 6, "n");
  EXPECT_EQ(store.send(with).payload, "+OK\r\n");
  with.fence = stamp(golden_wall, 4, "n");
  EXPECT_EQ(store.send(with), older);
  EXPECT_EQ(store.engine.counters().duplicates, 1u);
}

TEST(EngineDuplicates, BordersBetweenTimestampAndFencingTokenCount) {
  Store store;
  Ask one = request({"SET", "key", "v", "NX"});
  one.timestamp = "1:2:n";
  one.fence = "3:4:m";
  Ask two = one;
  two.timestamp = "1:2:n3";
  two.fence = ":4:m";  // malformed, but its own request
  EXPECT_EQ(store.send(one).payload, "+OK\r\n");
  EXPECT_EQ(store.send(two).payload, error_line("malformed timestamp"));
}

// A request without a timestamp, from a client that uses the same correlation data for all of its
// requests.
Ask unstamped(const std::vector<std::string>& items) {
  Ask ask = request(items);
  ask.without_timestamp = true;
  return ask;
}

TEST(EngineDuplicates, AnUnstampedRemoveIsRepeatedWhileNobodyWritesTheKey) {
  Store store;
  const Got set = store.ask({"SET", "key", "v"});
  const Got removed = store.send(unstamped({"DEL", "key"}));
  EXPECT_EQ(removed.payload, ":1\r\n");
  EXPECT_EQ(removed.timestamp, set.timestamp);
  store.ask({"SET", "another", "v"});
  EXPECT_EQ(store.send(unstamped({"DEL", "key"})), removed);
  EXPECT_EQ(store.engine.counters().duplicates, 1u);
}

TEST(EngineDuplicates, AnUnstampedRemoveIsExecutedAgainOnceTheKeyWasWritten) {
  Store store;
  for (const std::vector<std::string>& remove :
       {std::vector<std::string>{"DEL", "key"}, {"VDEL", "key", "v"}}) {
    EXPECT_EQ(store.send(unstamped(remove)).payload, ":0\r\n");
    for (int round = 0; round < 3; ++round) {
      store.ask({"SET", "key", "v"});
      EXPECT_EQ(store.send(unstamped(remove)).payload, ":1\r\n") << remove[0] << round;
      EXPECT_EQ(store.engine.keys(), 0u);
      store.pass(1s);
    }
  }
}

TEST(EngineDuplicates, EveryChangeOfTheKeyMakesAnUnstampedRemoveNew) {
  Store store;
  store.ask({"SET", "key", "other"});
  EXPECT_EQ(store.send(unstamped({"VDEL", "key", "v"})).payload, ":-1\r\n");
  store.ask({"SET", "key", "v"});
  EXPECT_EQ(store.send(unstamped({"VDEL", "key", "v"})).payload, ":1\r\n");
  store.ask({"SET", "key", "v"});
  store.ask({"DEL", "key"});
  EXPECT_EQ(store.send(unstamped({"VDEL", "key", "v"})).payload, ":0\r\n");

  store.ask({"SET", "key", "v", "PX", "1000"}, stamp(golden_wall, 5, "n"));
  const Got fenced = store.send(unstamped({"DEL", "key"}));
  EXPECT_EQ(fenced.payload, error_line("a fencing token is required for this request"));
  EXPECT_EQ(store.send(unstamped({"DEL", "key"})), fenced);
  store.pass(1s);  // the key expires
  EXPECT_EQ(store.send(unstamped({"DEL", "key"})).payload, ":0\r\n");
  EXPECT_EQ(store.engine.counters().duplicates, 1u);
}

TEST(EngineDuplicates, AWriteThatChangesNothingLeavesTheAnswerOfAnUnstampedRemove) {
  Store store;
  store.ask({"SET", "key", "other"});
  const Got differs = store.send(unstamped({"VDEL", "key", "v"}));
  EXPECT_EQ(store.ask({"SET", "key", "v", "NX"}).payload, ":-1\r\n");
  EXPECT_EQ(store.send(unstamped({"VDEL", "key", "v"})), differs);
  EXPECT_EQ(store.engine.counters().duplicates, 1u);
}

TEST(EngineDuplicates, ReadsAreExecutedEachTime) {
  Store store;
  store.ask({"SET", "key", "a"});
  EXPECT_EQ(store.send(request({"GET", "key"})).payload, "$1\r\na\r\n");
  store.ask({"SET", "key", "b"});
  EXPECT_EQ(store.send(request({"GET", "key"})).payload, "$1\r\nb\r\n");
  EXPECT_EQ(store.send(request({"KEYNOTIFY", "key"})).payload, "+OK\r\n");
  store.ask({"KEYNOTIFY", "key", "STOP"});
  EXPECT_EQ(store.send(request({"KEYNOTIFY", "key"})).payload, "+OK\r\n");
  EXPECT_EQ(store.engine.watches(), 1u);
}

TEST(EngineDuplicates, ARepeatNotifiesNoWatcherAgain) {
  Store store;
  store.ask({"KEYNOTIFY", "key"});
  store.send(request({"SET", "key", "v"}));
  EXPECT_EQ(store.notifications().size(), 1u);
  store.send(request({"SET", "key", "v"}));
  EXPECT_TRUE(store.notifications().empty());
}

TEST(EngineDuplicates, AreRememberedForAMinuteFromTheFirstTime) {
  Store store;
  store.send(request({"SET", "key", "v", "NX"}));
  store.pass(60s - 1ms);
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})).payload, "+OK\r\n");
  store.pass(1ms);
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})).payload, ":-1\r\n");
}

TEST(EngineDuplicates, TickForgetsWhatIsTooOld) {
  Store store;
  store.send(request({"SET", "key", "v"}));
  store.pass(60s - 1ms);
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.remembered_answers(), 1u);
  store.pass(1ms);
  store.engine.tick(store.now);
  EXPECT_EQ(store.engine.remembered_answers(), 0u);
}

TEST(EngineDuplicates, TheWallClockHasNoSayInTheMinute) {
  Store store;
  const Got first = store.send(request({"SET", "key", "v", "NX"}));
  store.now.wall += std::chrono::hours(9);
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})), first);
}

TEST(EngineDuplicates, BeyondTheBoundTheOldestIsForgotten) {
  EngineOptions options;
  options.max_duplicates = 2;
  Store store(options);
  for (const char* correlation : {"c1", "c2", "c3"}) {
    store.send(request({"SET", correlation, "v", "NX"}, correlation));
  }
  EXPECT_EQ(store.send(request({"SET", "c3", "v", "NX"}, "c3")).payload, "+OK\r\n");
  EXPECT_EQ(store.send(request({"SET", "c2", "v", "NX"}, "c2")).payload, "+OK\r\n");
  EXPECT_EQ(store.send(request({"SET", "c1", "v", "NX"}, "c1")).payload, ":-1\r\n");
}

TEST(EngineDuplicates, ABoundOfZeroTurnsTheFilterOff) {
  EngineOptions options;
  options.max_duplicates = 0;
  Store store(options);
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})).payload, "+OK\r\n");
  EXPECT_EQ(store.send(request({"SET", "key", "v", "NX"})).payload, ":-1\r\n");
}

TEST(EngineDuplicates, AHundredThousandForcedRepeatsExecuteExactlyOnce) {
  Store store;
  for (int i = 0; i < 100'000; ++i) {
    Ask ask = request({"SET", "key" + std::to_string(i % 1000), std::to_string(i)},
                      "c" + std::to_string(i));
    const Got first = store.send(ask);
    ASSERT_EQ(store.send(ask), first);
    if (i % 100 == 0) store.pass(1ms);
  }
  EXPECT_EQ(store.engine.counters().executed_writes, 100'000u);
  EXPECT_EQ(store.engine.counters().duplicates, 100'000u);
}

Request filtered(std::string_view client, std::string_view correlation) {
  Request request;
  request.client_id = client;
  request.correlation = correlation;
  request.timestamp = sent_at;
  request.payload = "payload";
  return request;
}

TEST(DuplicateFilter, BytesAreBoundedWhateverTheSizes) {
  DuplicateFilter filter(1000, 100'000, 5);
  for (int i = 0; i < 1000; ++i) {
    const std::string correlation(static_cast<std::size_t>(1 + i * 7 % 5000), 'c');
    const std::string client = std::to_string(i);
    const DuplicateKey key = filter.key_of(filtered(client, correlation));
    ASSERT_EQ(filter.find(key, Deadline(i)), nullptr);
    filter.remember(key, client, "+OK\r\n", "1:2:n", Deadline(i));
    ASSERT_LE(filter.bytes(), 100'000u);
    ASSERT_NE(filter.find(key, Deadline(i)), nullptr);
  }
  const std::string huge(200'000, 'c');
  const DuplicateKey key = filter.key_of(filtered("client", huge));
  filter.remember(key, "key", "+OK\r\n", "", Deadline(1000));
  EXPECT_EQ(filter.find(key, Deadline(1000)), nullptr);
  EXPECT_GT(filter.size(), 0u);
  filter.forget_old(Deadline(1000) + duplicate_lifetime, 1'000'000);
  EXPECT_EQ(filter.size(), 0u);
  EXPECT_EQ(filter.bytes(), 0u);
}

TEST(DuplicateFilter, AKeyIsOnlyNotedWhileAnUnstampedAnswerIsRemembered) {
  DuplicateFilter filter(2, 1 << 20, 5);
  const auto remember = [&](std::string_view correlation, std::string_view written) {
    Request unstamped = filtered("client", correlation);
    unstamped.timestamp.reset();
    const DuplicateKey key = filter.key_of(unstamped);
    filter.remember(key, written, ":1\r\n", "", Deadline(0));
    return key;
  };
  filter.note_write("a");
  EXPECT_EQ(filter.noted_keys(), 0u);
  const DuplicateKey first = remember("1", "a");
  const DuplicateKey second = remember("2", "a");
  EXPECT_EQ(filter.noted_keys(), 1u);
  filter.note_write("b");
  EXPECT_NE(filter.find(first, Deadline(0)), nullptr);
  filter.note_write("a");
  EXPECT_EQ(filter.find(first, Deadline(0)), nullptr);
  EXPECT_EQ(filter.size(), 1u);
  EXPECT_EQ(filter.find(second, Deadline(0)), nullptr);
  EXPECT_EQ(filter.size(), 0u);
  EXPECT_EQ(filter.bytes(), 0u);
  EXPECT_EQ(filter.noted_keys(), 0u);
  for (const char* key : {"a", "b", "c", "d"}) remember(key, key);
  EXPECT_EQ(filter.noted_keys(), 2u);
  filter.forget_old(duplicate_lifetime, 10);
  EXPECT_EQ(filter.noted_keys(), 0u);
}

TEST(DuplicateFilter, ForgetsNoMoreThanItsLimitAtOnce) {
  DuplicateFilter filter(1000, 1 << 20, 5);
  for (int i = 0; i < 10; ++i) {
    const std::string correlation = std::to_string(i);
    filter.remember(filter.key_of(filtered("client", correlation)), "key", "+OK\r\n", "",
                    Deadline(0));
  }
  filter.forget_old(duplicate_lifetime, 4);
  EXPECT_EQ(filter.size(), 6u);
}

}  // namespace
}  // namespace sheaf::store
