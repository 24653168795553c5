// get_and_set on endpoints that have it, and the refusal of the others.

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "tests/contract/forms.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

// The result of a call: the value, "absent", or the error.
std::string in_words(const Result<GetResult>& former) {
  if (!former) return former.error().message();
  return *former ? (*former)->data : "absent";
}

class GetAndSet : public test::OnEndpoint {
 protected:
  void SetUp() override {
    OnEndpoint::SetUp();
    if (client->supports(Feature::get_and_set)) return;
    const auto refused = client->get_and_set("key", "value");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().outcome, Outcome::unsupported);
    EXPECT_FALSE(client->get("key").value().has_value());
    lacks = true;
  }
  std::string exchange(std::string_view key, std::string_view value,
                       const GetAndSetOptions& options = {}) {
    return in_words(client->get_and_set(key, value, options));
  }
  std::int64_t life_of(const std::string& key) {
    return client->execute({"PTTL", key}).value().number().value();
  }
  bool lacks = false;
};

TEST_P(GetAndSet, ReturnsTheValueThatWasThereWithItsVersion) {
  if (lacks) return;
  EXPECT_EQ(exchange("key", ""), "absent");
  EXPECT_EQ(exchange("key", "a"), "") << "empty is not absent";
  const Version version = client->set("key", "b").value().version;
  const Value former = client->get_and_set("key", "c").value().value();
  EXPECT_EQ(former.data, "b");
  EXPECT_EQ(former.version, version);
  EXPECT_EQ(client->get("key").value()->data, "c");
  std::string large(1 << 20, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7);
  EXPECT_EQ(exchange("key", large), "c");
  EXPECT_TRUE(exchange("key", "d") == large);
  client->remove("key").value();
  EXPECT_EQ(exchange("key", "e"), "absent");
}

TEST_P(GetAndSet, ItsConditionsAreSeenByWhatWasThere) {
  if (lacks) return;
  const GetAndSetOptions once{.condition = SetCondition::if_absent};
  const GetAndSetOptions there{.condition = SetCondition::if_present};
  EXPECT_EQ(exchange("key", "a", there), "absent");
  EXPECT_FALSE(client->get("key").value().has_value()) << "not stored";
  EXPECT_EQ(exchange("key", "b", once), "absent");
  EXPECT_EQ(exchange("key", "c", once), "b");
  EXPECT_EQ(client->get("key").value()->data, "b") << "not stored";
  EXPECT_EQ(exchange("key", "d", there), "b");
  EXPECT_EQ(client->get("key").value()->data, "d");
  for (const SetCondition condition :
       {SetCondition::if_absent_or_equal, SetCondition::if_version}) {
    const auto refused = client->get_and_set("key", "d", {.condition = condition});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().outcome, Outcome::unsupported);
  }
}

TEST_P(GetAndSet, GivesATimeToLive) {
  if (lacks) return;
  EXPECT_EQ(exchange("key", "a", {.ttl = 1h}), "absent");
  EXPECT_GT(life_of("key"), 3'000'000);
  EXPECT_EQ(exchange("key", "b"), "a");
  EXPECT_EQ(life_of("key"), -1) << "for ever";
  EXPECT_EQ(exchange("key", "c", {.ttl = 1h, .condition = SetCondition::if_present}), "b");
  EXPECT_GT(life_of("key"), 3'000'000);
  EXPECT_EQ(exchange("new", "d", {.ttl = 1h, .condition = SetCondition::if_absent}), "absent");
  EXPECT_GT(life_of("new"), 3'000'000);
}

TEST_P(GetAndSet, AWriteWhoseReplyIsAboveTheLimitIsSaidToBeOne) {
  if (lacks) return;
  const std::string uri = endpoint->uri();
  Client small = test::open(uri + (uri.contains('?') ? "&" : "?") + "value_limit=1000");
  client->set("key", std::string(100'000, 'v')).value();
  const auto kept = small.get_and_set("key", "a", {.condition = SetCondition::if_absent});
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().outcome, Outcome::refused);
  EXPECT_EQ(kept.error().reason, Reason::too_large);
  EXPECT_EQ(client->get("key").value()->data.size(), 100'000u);
  const auto former = small.get_and_set("key", "b");
  ASSERT_FALSE(former);
  EXPECT_EQ(former.error().outcome, Outcome::unknown);
  EXPECT_EQ(former.error().reason, Reason::too_large);
  EXPECT_EQ(former.error().text, "the key was changed; its previous value is above value_limit");
  EXPECT_EQ(in_words(small.get_and_set("key", "c")), "b") << "its connection goes on";
}

TEST_P(GetAndSet, AValueOfAnotherTypeStays) {
  if (lacks) return;
  client->execute({"RPUSH", "list", "item"}).value();
  const auto refused = client->get_and_set("list", "a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::refused);
  EXPECT_EQ(refused.error().reason, Reason::wrong_type);
  EXPECT_EQ(client->execute({"LLEN", "list"}).value().number(), 1);
}

// Each value is either returned to exactly one caller or is the last one.
TEST_P(GetAndSet, OfManyAtATimeEachGetsTheValueOfAnother) {
  if (lacks) return;
  constexpr int threads = 4;
  constexpr int times = 50;
  std::vector<std::future<std::vector<std::string>>> runs;
  std::vector<std::string> written{"absent"};
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < times; ++i) written.push_back(std::to_string(t) + "/" + std::to_string(i));
    runs.push_back(std::async(std::launch::async, [this, t] {
      std::vector<std::string> formers;
      for (int i = 0; i < times; ++i) {
        formers.push_back(exchange("key", std::to_string(t) + "/" + std::to_string(i)));
      }
      return formers;
    }));
  }
  std::vector<std::string> seen;
  for (auto& run : runs) {
    for (std::string& former : run.get()) seen.push_back(std::move(former));
  }
  seen.push_back(client->get("key").value()->data);
  std::ranges::sort(seen);
  std::ranges::sort(written);
  EXPECT_EQ(seen, written);
}

TEST_P(GetAndSet, FuturesReturnTheSame) {
  const auto former = client->async().get_and_set("key", "a").future().get();
  if (lacks) {
    ASSERT_FALSE(former);
    EXPECT_EQ(former.error().outcome, Outcome::unsupported);
    return;
  }
  EXPECT_EQ(in_words(former), "absent");
  EXPECT_EQ(in_words(client->async().get_and_set("key", "b", {.ttl = 1h}).future().get()), "a");
}

INSTANTIATE_TEST_SUITE_P(Endpoints, GetAndSet, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

class GetAndSetInEveryForm : public test::InEveryForm {};

TEST_P(GetAndSetInEveryForm, ReturnsTheValueThatWasThere) {
  const AsyncClient async = client->async();
  const auto exchange = [&](const std::string& value, const GetAndSetOptions& options) {
    return test::outcome_of(form, async.get_and_set("key", value, options));
  };
  const auto first = exchange("a", {});
  if (!client->supports(Feature::get_and_set)) {
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().outcome, Outcome::unsupported);
    return;
  }
  EXPECT_EQ(in_words(first), "absent");
  EXPECT_EQ(in_words(exchange("b", {.ttl = 1h})), "a");
  EXPECT_EQ(in_words(exchange("c", {.condition = SetCondition::if_absent})), "b");
  EXPECT_EQ(client->get("key").value()->data, "b");
}

INSTANTIATE_TEST_SUITE_P(Forms, GetAndSetInEveryForm, test::every_form(), test::name_of_form);

}  // namespace
}  // namespace sheaf
