// State stores as caches: what a client with failover=rehash can do, and what it refuses.

#include <gtest/gtest.h>

#include <algorithm>

#include <sheaf/async.h>
#include <sheaf/list.h>
#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class Rehash : public test::OnEndpoint {
 protected:
  void SetUp() override {
    endpoint = GetParam().make();
    const std::string uri = endpoint->uri();
    client.emplace(test::open(uri + (uri.contains('?') ? "&" : "?") + "failover=rehash"));
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Rehash);
INSTANTIATE_TEST_SUITE_P(On, Rehash, testing::ValuesIn(test::endpoint_factories()),
                         [](const auto& test) { return test.param.name; });

void expect_refused(const Error& error, const std::string& what) {
  EXPECT_EQ(error.outcome, Outcome::unsupported) << error.message();
  EXPECT_EQ(error.text,
            "failover=rehash, under which a key may be on two nodes, does not support " + what);
}

TEST_P(Rehash, IsACacheAsWithOwners) {
  EXPECT_TRUE(client->set("key", "value", {.ttl = Ttl(1h)}).value().stored);
  EXPECT_EQ(client->get("key").value().value().data, "value");
  SetOptions if_absent;
  if_absent.condition = SetCondition::if_absent;
  EXPECT_FALSE(client->set("key", "other", if_absent).value().stored);
  const std::string_view keys[] = {"key", "absent"};
  EXPECT_TRUE(client->get_many(keys)[0].result.value().has_value());
  EXPECT_EQ(client->get_or_compute("absent", {}, [] { return "computed"; }).value().data,
            "computed");
  RemoveOptions if_value;
  if_value.if_value = "value";
  EXPECT_EQ(client->remove("key", if_value).value().found, RemoveResult::removed);
  EXPECT_FALSE(client->get("key").value().has_value());
}

TEST_P(Rehash, SaysWhatItHasNot) {
  const Feature missing[] = {Feature::fencing, Feature::watch, Feature::lists, Feature::locks};
  const Client with_owners = test::open(endpoint->uri());
  for (const Feature feature : all_features) {
    const bool lost = std::ranges::find(missing, feature) != std::end(missing);
    EXPECT_EQ(client->supports(feature), !lost && with_owners.supports(feature))
        << to_string(feature);
    EXPECT_TRUE(!lost || with_owners.supports(feature)) << to_string(feature);
  }
  EXPECT_TRUE(client->supports(Feature::rehash));
  EXPECT_EQ(Locker(*client).strength(), LockStrength::advisory);
}

TEST_P(Rehash, RefusesFencingTokens) {
  SetOptions set;
  set.fence = FencingToken{"000000000000001:00000:lock"};
  expect_refused(client->set("key", "value", set).error(), "fencing tokens");
  RemoveOptions remove;
  remove.fence = set.fence;
  expect_refused(client->remove("key", remove).error(), "fencing tokens");
  expect_refused(client->async().set("key", "value", set).future().get().error(), "fencing tokens");
  EXPECT_FALSE(client->get("key").value().has_value());
}

TEST_P(Rehash, RefusesLocksListsAndWatches) {
  expect_refused(Locker(*client).try_lock("lock").error(), "locks");
  expect_refused(List(*client, "list").push("item").error(), "lists");
  expect_refused(List(*client, "list").length().error(), "lists");
  expect_refused(client->watch("key").error(), "watches");
}

}  // namespace
}  // namespace sheaf
