// sheaf/json.h with a real client on every endpoint; tests/cluster/json_values_test.cpp has its
// corner cases.

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sheaf/json.h>

#include "tests/contract/endpoints.h"
#include "tests/support/task.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

struct Reading {
  std::string unit;
  double value = 0;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Reading, unit, value)
};

class JsonClient : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint_ = GetParam().make();
    client_.emplace(test::open(endpoint_->uri()));
  }
  Client& client() { return *client_; }

 private:
  std::unique_ptr<test::Endpoint> endpoint_;
  std::optional<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(On, JsonClient, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(JsonClient, AValueComesBackAsItWent) {
  const auto stored = set_json(client(), "line/1", Reading{"bar", 2.5});
  ASSERT_TRUE(stored.has_value()) << stored.error().message();
  EXPECT_TRUE(stored->stored);
  const auto found = get_json<Reading>(client(), "line/1");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->data.unit, "bar");
  EXPECT_EQ((*found)->data.value, 2.5);
}

TEST_P(JsonClient, AnAbsentKeyIsNoError) {
  const auto found = get_json<Reading>(client(), "nothing/here");
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_FALSE(found->has_value());
}

TEST_P(JsonClient, AConditionHoldsForAnEqualValue) {
  SetOptions options;
  options.condition = SetCondition::if_absent_or_equal;
  const auto first = set_json(client(), "k", Reading{"bar", 1}, options);
  if (!client().supports(Feature::if_absent_or_equal)) {
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().outcome, Outcome::unsupported);
    EXPECT_FALSE(client().get("k").value().has_value());
    return;
  }
  EXPECT_TRUE(first.value().stored);
  EXPECT_TRUE(set_json(client(), "k", Reading{"bar", 1}, options)->stored);
  EXPECT_FALSE(set_json(client(), "k", Reading{"bar", 2}, options)->stored);
}

TEST_P(JsonClient, AConditionHoldsForAnUnchangedVersion) {
  ASSERT_TRUE(set_json(client(), "k", Reading{"bar", 1}).has_value());
  const auto read = get_json<Reading>(client(), "k");
  SetOptions options;
  options.condition = SetCondition::if_version;
  options.version = read.value()->version;
  const auto first = set_json(client(), "k", Reading{"bar", 2}, options);
  if (!client().supports(Feature::if_version)) {
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().outcome, Outcome::unsupported);
  } else {
    EXPECT_TRUE(first.value().stored);
    EXPECT_FALSE(set_json(client(), "k", Reading{"bar", 3}, options)->stored);
  }
  const double expected = client().supports(Feature::if_version) ? 2 : 1;
  EXPECT_EQ(get_json<Reading>(client(), "k").value()->data.value, expected);
}

TEST_P(JsonClient, TheFlagsOfAValueAreKept) {
  const auto stored = set_json(client(), "k", Reading{"bar", 1}, {.flags = 5});
  if (!client().supports(Feature::flags)) {
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().outcome, Outcome::unsupported);
    return;
  }
  EXPECT_TRUE(stored.value().stored);
  EXPECT_EQ(get_json<Reading>(client(), "k").value()->flags, 5u);
}

TEST_P(JsonClient, WhatCannotBeWrittenLeavesTheOldValue) {
  ASSERT_TRUE(set_json(client(), "k", std::string("old")).has_value());
  EXPECT_FALSE(set_json(client(), "k", std::string("\xff")).has_value());
  EXPECT_EQ((*get_json<std::string>(client(), "k"))->data, "old");
}

TEST_P(JsonClient, ABatchHasOneOutcomeForEachDistinctKey) {
  const Version version = set_json(client(), "a", 1).value().version;
  ASSERT_TRUE(client().set("b", "no json").has_value());
  const std::vector<std::string_view> keys{"a", "b", "c", "a"};
  const auto entries = get_many_json<int>(client(), keys);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key, "a");
  EXPECT_EQ((*entries[0].result)->data, 1);
  EXPECT_EQ((*entries[0].result)->version, version);
  EXPECT_EQ(entries[1].key, "b");
  ASSERT_FALSE(entries[1].result.has_value());
  EXPECT_EQ(entries[1].result.error().outcome, Outcome::invalid);
  EXPECT_EQ(entries[1].result.error().text, "the value of \"b\" is not JSON");
  EXPECT_EQ(entries[2].key, "c");
  ASSERT_TRUE(entries[2].result.has_value());
  EXPECT_FALSE(entries[2].result->has_value());
}

TEST_P(JsonClient, AReadHasTheVersionThatTheWriteReturned) {
  const auto stored = set_json(client(), "k", 1);
  const auto found = get_json<int>(client(), "k");
  EXPECT_FALSE(stored.value().version.empty());
  EXPECT_EQ(found.value()->version, stored->version);
  EXPECT_EQ(found.value()->flags, 0u);
}

// The loop of the header's first comment. Another writer changes the value after the first read.
TEST_P(JsonClient, AValueThatChangedMeanwhileIsReadAgain) {
  if (!client().supports(Feature::if_version)) return;
  ASSERT_TRUE(set_json(client(), "k", Reading{"bar", 1}).has_value());
  int reads = 0;
  for (bool stored = false; !stored;) {
    const auto found = get_json<Reading>(client(), "k").value();
    if (++reads == 1) {
      ASSERT_TRUE(set_json(client(), "k", Reading{"psi", 10}).has_value());
    }
    Reading reading = found->data;
    reading.value += 1;
    const auto done = set_json(
        client(), "k", reading,
        {.condition = SetCondition::if_version, .version = found->version, .flags = found->flags});
    stored = done.value().stored;
  }
  EXPECT_EQ(reads, 2);
  const Reading last = get_json<Reading>(client(), "k").value()->data;
  EXPECT_EQ(last.unit, "psi");
  EXPECT_EQ(last.value, 11);
}

using Words = std::vector<std::pair<std::string, std::string>>;

TEST_P(JsonClient, ManyAreWrittenAtOnceAndABadOneSpoilsItselfOnly) {
  ASSERT_TRUE(set_json(client(), "spoilt", std::string("old")).has_value());
  const Words words{{"a", "1"}, {"spoilt", "2"},    {"twice", "\xff"},
                    {"b", "3"}, {"spoilt", "\xff"}, {"twice", "4"}};
  const auto entries = set_many_json(client(), words);
  ASSERT_EQ(entries.size(), 4u);
  const char* keys[] = {"a", "spoilt", "twice", "b"};
  for (std::size_t i = 0; i < entries.size(); ++i) EXPECT_EQ(entries[i].key, keys[i]);
  ASSERT_FALSE(entries[1].result.has_value());
  EXPECT_EQ(entries[1].result.error().reason, Reason::bad_argument);
  const auto text = [&](const char* key) {
    return get_json<std::string>(client(), key).value()->data;
  };
  EXPECT_EQ(text("a"), "1");
  EXPECT_EQ(text("spoilt"), "old");
  EXPECT_EQ(text("twice"), "4");
  EXPECT_EQ(text("b"), "3");
  EXPECT_EQ(get_json<std::string>(client(), "b").value()->version, entries[3].result->version);
}

TEST_P(JsonClient, AMapIsWrittenWithATimeToLive) {
  const std::map<std::string, Reading> readings{{"x", {"bar", 1}}, {"y", {"bar", 2}}};
  const auto entries = set_many_json(client(), readings, {.ttl = 1h});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[1].result.value().stored);
  EXPECT_EQ(get_json<Reading>(client(), "y").value()->data.value, 2);
  EXPECT_TRUE(set_many_json(client(), Words{}).empty());
}

// Collects the outcomes of callbacks and the threads that they run on.
template <class Out>
class Inbox {
 public:
  auto callback() {
    return [this](Out out) { promise_.set_value({std::move(out), std::this_thread::get_id()}); };
  }
  Out take() {
    auto [out, thread] = promise_.get_future().get();
    EXPECT_NE(thread, std::this_thread::get_id()) << "callbacks run on the dispatcher";
    return std::move(out);
  }

 private:
  std::promise<std::pair<Out, std::thread::id>> promise_;
};

TEST_P(JsonClient, CallbackFormsEndLikeBlockingOnes) {
  Inbox<Result<SetResult>> set, bad;
  set_json(client().async(), "k", Reading{"bar", 7}).then(set.callback());
  const auto stored = set.take();
  EXPECT_TRUE(stored.value().stored);
  set_json(client().async(), "bad", std::string("\xff")).then(bad.callback());
  EXPECT_EQ(bad.take().error().reason, Reason::bad_argument);

  Inbox<Result<JsonGetResult<Reading>>> got, absent;
  get_json<Reading>(client().async(), std::string("k")).then(got.callback());
  const auto found = got.take();
  EXPECT_EQ(found.value()->data.value, 7);
  EXPECT_EQ(found.value()->version, stored->version);
  get_json<Reading>(client().async(), "absent").then(absent.callback());
  EXPECT_FALSE(absent.take().value().has_value());

  Inbox<AsyncClient::Sets> sets;
  set_many_json(client().async(), Words{{"a", "1"}, {"bad", "\xff"}}).then(sets.callback());
  const auto written = sets.take();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_TRUE(written[0].result.value().stored);
  EXPECT_EQ(written[1].result.error().reason, Reason::bad_argument);

  Inbox<JsonGets<std::string>> gets;
  const std::vector<std::string_view> keys{"a", "bad"};
  get_many_json<std::string>(client().async(), keys).then(gets.callback());
  const auto read = gets.take();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ((*read[0].result)->data, "1");
  EXPECT_FALSE(read[1].result->has_value());
}

// The texts from which each awaitable is made have ended when it is awaited.
test::Task<std::string> with_coroutines(AsyncClient client) {
  auto set = set_json(client, std::string(100, 'k'), Reading{"bar", 7});
  const auto stored = co_await set;
  if (!stored || !stored->stored) co_return "not stored";
  auto bad = set_json(client, "bad", std::string("\xff"));
  const auto refused = co_await bad;
  if (refused || refused.error().reason != Reason::bad_argument) co_return "not refused";
  auto get = get_json<Reading>(client, std::string(100, 'k'));
  const auto found = co_await get;
  if (!found || !*found || (*found)->version != stored->version) co_return "another version";
  auto sets = set_many_json(client, Words{{"a", "1"}, {"bad", "\xff"}});
  const auto written = co_await sets;
  if (written.size() != 2 || !written[0].result || written[1].result) co_return "not written";
  const std::vector<std::string_view> keys{"a", "absent"};
  const auto read = co_await get_many_json<std::string>(client, keys);
  if (read.size() != 2 || *read[1].result) co_return "found what is absent";
  co_return (*read[0].result)->data;
}

TEST_P(JsonClient, CoroutineFormsEndLikeBlockingOnes) {
  EXPECT_EQ(with_coroutines(client().async()).get(), "1");
}

}  // namespace
}  // namespace sheaf
