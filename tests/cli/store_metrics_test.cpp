// The text for Prometheus that the numbers of state stores become.

#include "cli/show/store_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "store/engine/numbers.h"

namespace sheaf::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

NodeText said(std::string node, std::string text) { return {std::move(node), std::move(text)}; }

TEST(StoreMetrics, EveryNodeHasItsSamplesInEachFamily) {
  const std::string text = store_metrics(
      {said("one:1", "version 1\nkeys 3\ncmd_set 5\ncmd_get 7\n"), said("t\"wo", "keys 4\n")});
  EXPECT_EQ(text,
            "# HELP sheaf_store_keys Keys in the store.\n"
            "# TYPE sheaf_store_keys gauge\n"
            "sheaf_store_keys{node=\"one:1\"} 3\n"
            "sheaf_store_keys{node=\"t\\\"wo\"} 4\n"
            "# HELP sheaf_store_commands_total Well-formed requests by command.\n"
            "# TYPE sheaf_store_commands_total counter\n"
            "sheaf_store_commands_total{node=\"one:1\",command=\"set\"} 5\n"
            "sheaf_store_commands_total{node=\"one:1\",command=\"get\"} 7\n");
}

TEST(StoreMetrics, CommitsAreASummaryInSeconds) {
  const std::string text = store_metrics({said(
      "n", "commits 12\ncommit_us_total 3000001\ncommit_us_median 250\ncommit_us_p99 1200000\n")});
  EXPECT_THAT(text, HasSubstr("{node=\"n\",quantile=\"0.5\"} 0.000250\n"));
  EXPECT_THAT(text, HasSubstr("{node=\"n\",quantile=\"0.99\"} 1.200000\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_store_commit_seconds_sum{node=\"n\"} 3.000001\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_store_commit_seconds_count{node=\"n\"} 12\n"));
}

TEST(StoreMetrics, NodesWithoutAnAnswerAndUnknownNumbersAreLeftOut) {
  Error refused;
  refused.outcome = Outcome::refused;
  EXPECT_EQ(store_metrics({NodeText{"n", Failure(refused)}}), "");
  EXPECT_EQ(store_metrics({said("n", "planets 9\n")}), "");
}

// Otherwise an operator would not see a number that the store has.
TEST(StoreMetrics, EachNumberOfAStoreHasASample) {
  const struct File final : store::FileReport {
    store::FileNumbers numbers() const override { return {}; }
  } file;
  const auto all = store::list_numbers({}, {}, {.file = &file});
  for (const store::Number& number : all) {
    if (number.name == "errors") continue;  // the sum of its reasons
    const std::string line = std::string(number.name) + " 7\n";
    EXPECT_THAT(store_metrics({{"n", line}}), Not(testing::IsEmpty())) << number.name;
  }
}

}  // namespace
}  // namespace sheaf::cli
