// What the engine counts, and how it answers questions about itself.

#include "store/engine/numbers.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include <sheaf/version.h>

#include "store/engine/journal.h"
#include "tests/store/engine/store_fixture.h"

namespace sheaf::store {
namespace {

std::map<std::string, std::uint64_t> numbers_of(const Store& store) {
  std::map<std::string, std::uint64_t> all;
  for (const Number& number : store.engine.numbers({}))
    all[std::string(number.name)] = number.value;
  return all;
}

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

TEST(StoreNumbers, AreLinesThatBeginWithTheVersion) {
  EXPECT_EQ(print_numbers({{"keys", 3}, {"bytes", 40}}),
            "version " SHEAF_VERSION "\nkeys 3\nbytes 40\n");
}

TEST(StoreNumbers, EachNameIsThereOnce) {
  const Store store;
  EXPECT_EQ(numbers_of(store).size(), store.engine.numbers({}).size());
}

TEST(StoreInspections, AnswerWithTheNumbersAndTheVersion) {
  Store store;
  store.ask({"SET", "key", "value"});
  const Got stats = store.inspect({.payload = payload_of({"STATS"})});
  EXPECT_EQ(stats.verdict, Verdict::answer);
  EXPECT_EQ(stats.payload, bulk(print_numbers(store.engine.numbers({}))));
  EXPECT_EQ(stats.timestamp, "");
  EXPECT_EQ(store.inspect({.payload = payload_of({"VERSION"})}).payload, bulk(SHEAF_VERSION));
  const auto numbers = numbers_of(store);
  EXPECT_EQ(numbers.at("keys"), 1u);
  EXPECT_EQ(numbers.at("bytes"), 8u);
  EXPECT_EQ(numbers.at("requests"), 1u) << "an inspection is no request";
  EXPECT_EQ(numbers.at("inspections"), 2u);
}

TEST(StoreInspections, ListKeysAndSayHowLongTheyLive) {
  Store store;
  store.ask({"SET", "mortal", "value", "PX", "2000"});
  store.ask({"SET", "immortal", "v"});
  const auto ask = [&](const std::vector<std::string>& words) {
    return store.inspect({.payload = payload_of(words)}).payload;
  };
  EXPECT_TRUE(ask({"KEYS", "0", "-", "mor*"}).ends_with("\n6 5 2000\nmortal\r\n"));
  EXPECT_TRUE(ask({"KEYS", "1", "-", "*"}).ends_with("\n8 1 -\nimmortal\r\n"));
  EXPECT_EQ(ask({"KEYS", "1", "-", std::string(1'025, '*')}), error_line("syntax error"));
  EXPECT_EQ(ask({"TTL", "mortal"}), bulk("2000"));
  EXPECT_EQ(ask({"TTL", "immortal"}), bulk("-"));
  EXPECT_EQ(ask({"TTL", "none"}), bulk("absent"));
  store.now.mono += std::chrono::seconds(2);
  EXPECT_EQ(ask({"TTL", "mortal"}), bulk("absent"));
  EXPECT_FALSE(ask({"KEYS", "0", "-", "*"}).contains("\nmortal"));
}

TEST(StoreInspections, HaveTheEnvelopeOfRequests) {
  EngineOptions own;
  own.reply_topics = ReplyTopics::own;
  Store store(own);
  const std::string stats = payload_of({"STATS"});
  EXPECT_EQ(store.inspect({.payload = stats, .response_topic = {}}).verdict, Verdict::drop);
  EXPECT_EQ(store.inspect({.payload = stats, .response_topic = "a/#"}).verdict,
            Verdict::disconnect);
  EXPECT_EQ(store.inspect({.payload = stats, .qos = 0}).payload, error_line("syntax error"));
  EXPECT_EQ(store.inspect({.payload = stats, .without_correlation = true}).payload,
            error_line("syntax error"));
  EXPECT_EQ(store.inspect({.payload = stats, .response_topic = "clients/other/answers"}).payload,
            error_line("not authorized"));
  EXPECT_EQ(store.inspect({.payload = stats, .gate = Gate::not_authorized}).payload,
            error_line("not authorized"));
  EXPECT_EQ(store.inspect({.payload = payload_of({"GET", "key"})}).payload,
            error_line("unknown command"));
  EXPECT_EQ(store.inspect({.payload = payload_of({"STATS", "items"})}).payload,
            error_line("wrong number of arguments"));
}

TEST(StoreNumbers, CommandsAndOutcomesAreCounted) {
  EngineOptions options;
  options.max_keys = 2;
  Store store(options);
  store.ask({"SET", "a", "1"});
  store.ask({"SET", "a", "2", "NX"});  // unmet
  store.ask({"GET", "a"});             // hit
  store.ask({"GET", "b"});             // miss
  store.ask({"GET", "sheaf/probe"});   // neither
  store.ask({"VDEL", "a", "9"});       // unmet
  store.ask({"KEYNOTIFY", "a"});       //
  store.ask({"DEL", "a"});             // notifies
  store.ask({"SET", "b", "1", "PX", "10"}, stamp(golden_wall, 5, "x"));
  store.ask({"SET", "b", "1"});  // fence
  store.pass(1s);
  store.engine.tick(store.now);  // expires
  const Ask repeated{.payload = payload_of({"DEL", "a"}), .correlation = "same"};
  store.send(repeated);
  store.send(repeated);  // duplicate
  store.ask({"SET", "c", "1"});
  store.ask({"SET", "d", "1"});
  store.ask({"SET", "e", "1"});  // quota
  store.ask({"NONSENSE"});       // syntax
  store.send({.payload = payload_of({"GET", "a"}), .gate = Gate::not_authorized});
  store.send({.payload = payload_of({"GET", "a"}), .gate = Gate::too_fast});
  store.ask({"SET", "c", "1"}, stamp(store.now.wall + 90s, 0, "x"));  // time
  store.engine.journal().freeze(true);
  store.ask({"SET", "c", "1"});  // read-only
  const std::map<std::string, std::uint64_t> expected{
      {"keys", 2},          {"bytes", 4},
      {"watches", 1},       {"clients", 0},
      {"fences", 0},        {"answers", 11},
      {"requests", 20},     {"cmd_set", 9},
      {"cmd_get", 5},       {"cmd_del", 3},
      {"cmd_vdel", 1},      {"cmd_keynotify", 1},
      {"get_hits", 1},      {"get_misses", 1},
      {"probes", 1},        {"writes", 8},
      {"unmet", 2},         {"duplicates", 1},
      {"dropped", 0},       {"forbidden", 0},
      {"errors", 7},        {"errors_not_authorized", 1},
      {"errors_quota", 1},  {"errors_rate", 1},
      {"errors_time", 1},   {"errors_fence", 1},
      {"errors_syntax", 1}, {"errors_read_only", 1},
      {"inspections", 0},   {"expired", 1},
      {"notifications", 1}, {"frozen", 1}};
  EXPECT_EQ(numbers_of(store), expected);
}

TEST(StoreNumbers, OnlyThoseThatChangedAreTaken) {
  ChangedNumbers changed;
  const std::vector<Number> first{{"keys", 1}, {"bytes", 8}};
  EXPECT_EQ(changed.take(first), first);
  EXPECT_TRUE(changed.take(first).empty());
  EXPECT_EQ(changed.take({{"keys", 2}, {"bytes", 8}}), (std::vector<Number>{{"keys", 2}}));
  EXPECT_EQ(changed.take(first), (std::vector<Number>{{"keys", 1}}));
}

TEST(StoreNumbers, ThoseOfAFileAreThereIfThereIsOne) {
  const Store store;
  const struct File final : FileReport {
    FileNumbers numbers() const override {
      return {.bytes = 4096,
              .commits = 3,
              .failed_commits = 1,
              .total_us = 900,
              .median_us = 300,
              .p99_us = 400,
              .longest_us = 401};
    }
  } file;
  const std::string text = print_numbers(store.engine.numbers({.clients = 2, .file = &file}));
  EXPECT_TRUE(
      text.ends_with("frozen 0\nfile_bytes 4096\ncommits 3\nfailed_commits 1\n"
                     "commit_us_total 900\ncommit_us_median 300\ncommit_us_p99 400\n"
                     "commit_us_max 401\n"))
      << text;
}

// An operator asks when something is wrong.
TEST(StoreInspections, AreAnsweredWhileTheStoreIsReadOnly) {
  Store store;
  EXPECT_EQ(numbers_of(store).at("frozen"), 0u);
  store.engine.journal().freeze(true);
  EXPECT_TRUE(store.inspect({.payload = payload_of({"STATS"})}).payload.contains("\nfrozen 1\n"));
}

}  // namespace
}  // namespace sheaf::store
