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

// An operator asks when something is wrong.
TEST(StoreInspections, AreAnsweredWhileTheStoreIsReadOnly) {
  Store store;
  EXPECT_EQ(numbers_of(store).at("frozen"), 0u);
  store.engine.journal().freeze(true);
  EXPECT_TRUE(store.inspect({.payload = payload_of({"STATS"})}).payload.contains("\nfrozen 1\n"));
}

}  // namespace
}  // namespace sheaf::store
