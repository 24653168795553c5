// What a client measures about its operations, on every kind of endpoint.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <sheaf/client.h>
#include <sheaf/list.h>
#include <sheaf/metrics.h>
#include <sheaf/watch.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// The sum over all nodes.
OperationMetrics total(const Client& client, const std::string& operation) {
  OperationMetrics sum;
  for (const NodeMetrics& node : client.metrics().nodes) {
    for (const OperationMetrics& one : node.operations) {
      if (one.operation != operation) continue;
      sum.done += one.done;
      sum.absent += one.absent;
      sum.not_stored += one.not_stored;
      sum.refused += one.refused;
      sum.not_sent += one.not_sent;
      sum.round_trip.add(one.round_trip);
    }
  }
  return sum;
}

class Measured : public test::OnEndpoint {};
INSTANTIATE_TEST_SUITE_P(On, Measured, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Measured, OperationsAreCountedByHowTheyEnd) {
  ASSERT_TRUE(client->set("metrics/a", "1"));
  ASSERT_TRUE(client->get("metrics/a"));
  ASSERT_FALSE(client->get("metrics/none")->has_value());
  ASSERT_FALSE(client->set("metrics/a", "2", {.condition = SetCondition::if_absent})->stored);
  ASSERT_TRUE(client->remove("metrics/a"));
  const OperationMetrics get = total(*client, "get");
  EXPECT_EQ(get.done, 1u);
  EXPECT_EQ(get.absent, 1u);
  EXPECT_EQ(get.round_trip.count, 2u);
  EXPECT_LT(get.round_trip.quantile(1), 10s);
  const OperationMetrics set = total(*client, "set");
  EXPECT_EQ(set.done, 1u);
  EXPECT_EQ(set.not_stored, 1u);
  EXPECT_EQ(total(*client, "remove").done, 1u);
}

TEST_P(Measured, EachKeyOfABatchIsAHitOrAMiss) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client->set("metrics/" + std::to_string(i), "v"));
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("metrics/" + std::to_string(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  for (const auto& [key, got] : client->get_many(keys)) ASSERT_TRUE(got) << key;
  const OperationMetrics one = total(*client, "get");
  const OperationMetrics many = total(*client, "get_many");
  EXPECT_EQ(one.done + many.done, 5u);
  EXPECT_EQ(one.absent + many.absent, 15u);
  for (const std::string& name : names) ASSERT_TRUE(client->remove(name));
}

TEST_P(Measured, CommitsOfListsAreCountedWithTheirEdits) {
  if (!client->supports(Feature::lists)) return;
  List list(*client, "metrics/list");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(list.push("item"));
  const ListMetrics lists = client->metrics().lists;
  EXPECT_EQ(lists.edits, 5u);
  EXPECT_EQ(lists.commits, 5u);
  EXPECT_EQ(lists.conflicts, 0u);
  ASSERT_TRUE(list.clear());
}

TEST_P(Measured, ChangesOfWatchedKeysAreCounted) {
  if (!client->supports(Feature::watch)) return;
  auto watch = client->watch("metrics/watched");
  ASSERT_TRUE(watch);
  ASSERT_TRUE(watch->next({.wait = 10s}));  // the present value
  EXPECT_EQ(client->metrics().watches.keys, 1u);
  ASSERT_TRUE(client->set("metrics/watched", "1"));
  ASSERT_TRUE(watch->next({.wait = 10s}));
  EXPECT_GE(client->metrics().watches.changes, 1u);
  ASSERT_TRUE(client->remove("metrics/watched"));
}

}  // namespace
}  // namespace sheaf
