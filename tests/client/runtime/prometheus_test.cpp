// Metrics as text for Prometheus. tests/cli/test_metrics.py reads the text with Prometheus' own
// library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include <sheaf/metrics.h>

#include "base/histogram.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Metrics one_node() {
  Metrics metrics;
  NodeMetrics& node = metrics.nodes.emplace_back();
  node.stats.node = "b1:1883";
  node.stats.health = NodeHealth::up;
  node.stats.bytes_sent = 12'345;
  node.stats.hedges = 21;
  node.stats.hedges_won = 17;
  OperationMetrics& get = node.operations.emplace_back();
  get.operation = "get";
  get.done = 7;
  get.absent = 3;
  Histogram trips;
  for (const std::chrono::nanoseconds trip :
       std::initializer_list<std::chrono::nanoseconds>{15us, 15us, 300us, 70s}) {
    trips.record(trip);
  }
  get.round_trip = trips.snapshot();
  return metrics;
}

TEST(Prometheus, CountersAndStatesAreSamplesWithTheNodeAsLabel) {
  const std::string text = prometheus_text(one_node());
  EXPECT_THAT(text, HasSubstr("# TYPE sheaf_node_up gauge\nsheaf_node_up{node=\"b1:1883\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_node_health{node=\"b1:1883\",health=\"up\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_node_health{node=\"b1:1883\",health=\"down\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_sent_bytes_total{node=\"b1:1883\"} 12345\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_hedges_total{node=\"b1:1883\"} 21\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_hedges_won_total{node=\"b1:1883\"} 17\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_operations_total{node=\"b1:1883\",operation=\"get\","
                              "outcome=\"absent\"} 3\n"));
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(Prometheus, BoundsOfAHistogramCountEverythingBelowThem) {
  const std::string text = prometheus_text(one_node());
  const auto bucket = [](const std::string& bound, int count) {
    return "sheaf_round_trip_seconds_bucket{node=\"b1:1883\",operation=\"get\",le=\"" + bound +
           "\"} " + std::to_string(count) + "\n";
  };
  EXPECT_THAT(text, HasSubstr(bucket("1e-05", 0)));
  EXPECT_THAT(text, HasSubstr(bucket("2e-05", 2)));
  EXPECT_THAT(text, HasSubstr(bucket("5e-04", 3)));
  EXPECT_THAT(text, HasSubstr(bucket("50", 3)));
  EXPECT_THAT(text, HasSubstr(bucket("+Inf", 4)));
  EXPECT_THAT(text, HasSubstr("sheaf_round_trip_seconds_sum{node=\"b1:1883\",operation=\"get\"} "
                              "70.00033\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_round_trip_seconds_count{node=\"b1:1883\",operation=\"get\"} "
                              "4\n"));
}

TEST(Prometheus, ListsAndWatchesAreCountedForTheWholeClient) {
  Metrics metrics;
  metrics.lists = {3, 40, 1};
  metrics.watches = {5, 70, 2};
  const std::string text = prometheus_text(metrics, {{"cluster", "c"}});
  EXPECT_THAT(text, HasSubstr("sheaf_list_commits_total{cluster=\"c\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_list_edits_total{cluster=\"c\"} 40\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_list_conflicts_total{cluster=\"c\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_watched_keys{cluster=\"c\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_watch_changes_total{cluster=\"c\"} 70\n"));
  EXPECT_THAT(text, HasSubstr("sheaf_watch_gaps_total{cluster=\"c\"} 2\n"));
}

TEST(Prometheus, LabelsOfTheProgramAreEscapedAndWrongNamesLeftOut) {
  const std::string text = prometheus_text(
      one_node(), {{"cluster", "a \"b\"\\\nc"}, {"1st", "x"}, {"", "y"}, {"__name", "z"}});
  EXPECT_THAT(text,
              HasSubstr("sheaf_node_up{node=\"b1:1883\",cluster=\"a \\\"b\\\"\\\\\\nc\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("1st")));
  EXPECT_THAT(text, Not(HasSubstr("__name")));
}

TEST(Prometheus, NoSampleHasTwoLabelsOfOneName) {
  const std::string text = prometheus_text(
      one_node(), {{"node", "a"}, {"le", "1"}, {"outcome", "b"}, {"team", "x"}, {"team", "y"}});
  EXPECT_THAT(text, HasSubstr("sheaf_node_up{node=\"b1:1883\",team=\"x\"} 1\n"));
}

TEST(Prometheus, AClientWithoutNodesHasFamiliesAndNoSample) {
  const std::string text = prometheus_text({});
  EXPECT_THAT(text, HasSubstr("# TYPE sheaf_round_trip_seconds histogram\n"));
  EXPECT_THAT(text, Not(HasSubstr("{")));
}

}  // namespace
}  // namespace sheaf
