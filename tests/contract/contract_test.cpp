// The contract of Client, the same on every endpoint: engines in the process, real brokers with the
// plugin, and real servers of memcached and of the Redis protocol. The tests ask supports() what an
// endpoint lacks, which must then be refused as unsupported.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "base/random.h"
#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class Contract : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint = GetParam().make();
    client.emplace(test::open(endpoint->uri()));
  }
  const test::Limits& limits() const { return GetParam().limits; }
  // True if the endpoint has the feature; otherwise the result of trying must say that it is
  // unsupported.
  template <class T>
  bool has(Feature feature, const Result<T>& tried) const {
    if (client->supports(feature)) return true;
    EXPECT_FALSE(tried) << to_string(feature);
    if (!tried) {
      EXPECT_EQ(tried.error().outcome, Outcome::unsupported) << to_string(feature);
    }
    return false;
  }
  std::unique_ptr<test::Endpoint> endpoint;
  std::optional<Client> client;
};

INSTANTIATE_TEST_SUITE_P(On, Contract, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

std::string all_bytes() {
  std::string text;
  for (int i = 0; i < 256; ++i) text.push_back(static_cast<char>(i));
  return text;
}

TEST_P(Contract, AValueComesBackByteForByteWithItsVersion) {
  const auto stored = client->set("key", "value");
  ASSERT_TRUE(stored) << stored.error().message();
  EXPECT_TRUE(stored->stored);
  EXPECT_FALSE(stored->version.empty());
  const auto got = client->get("key");
  ASSERT_TRUE(got) << got.error().message();
  ASSERT_TRUE(got->has_value());
  EXPECT_EQ((*got)->data, "value");
  EXPECT_EQ((*got)->version, stored->version);
}

TEST_P(Contract, AMissingKeyIsAnEmptyResultAndNoError) {
  const auto got = client->get("missing");
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_FALSE(got->has_value());
}

TEST_P(Contract, BinaryKeysAndValuesOfAllSizesComeBackUnchanged) {
  Random random(1);
  const std::string keys[] = {all_bytes().substr(0, limits().binary_key), "\r\n$3\r\n",
                              std::string(1, '\0'), "{tag}\r\n",
                              std::string(std::min<std::size_t>(limits().key, 6'500), 'k')};
  const std::size_t sizes[] = {0, 1, 2, 100, 8'191, 8'192, 8'193, 65'000, 1 << 20, 10 << 20};
  for (const std::string& key : keys) {
    for (const std::size_t size : sizes) {
      if (size > limits().value || (size > 100'000 && &key != keys)) continue;
      std::string value(size, 0);
      random.fill(std::as_writable_bytes(std::span(value)));
      SetOptions options;
      options.timeout = 20s;
      const auto stored = client->set(key, value, options);
      ASSERT_TRUE(stored) << stored.error().message() << " " << size;
      const auto got = client->get(key, {20s});
      ASSERT_TRUE(got) << got.error().message() << " " << size;
      ASSERT_TRUE(got->has_value());
      ASSERT_TRUE((*got)->data == value) << size;
    }
  }
}

TEST_P(Contract, SetIfAbsentStoresOnceAndSaysSo) {
  SetOptions options;
  options.condition = SetCondition::if_absent;
  const auto first = client->set("once", "a", options);
  const auto second = client->set("once", "b", options);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->stored);
  EXPECT_FALSE(second->stored);
  if (!second->version.empty()) {
    EXPECT_EQ(second->version, first->version);
  }
  EXPECT_EQ(client->get("once").value()->data, "a");
}

TEST_P(Contract, SetIfAbsentOrEqualStoresTheSameValueOnly) {
  SetOptions options;
  options.condition = SetCondition::if_absent_or_equal;
  if (!has(Feature::if_absent_or_equal, client->set("tried", "a", options))) return;
  EXPECT_TRUE(client->set("same", "a", options).value().stored);
  EXPECT_TRUE(client->set("same", "a", options).value().stored);
  EXPECT_FALSE(client->set("same", "b", options).value().stored);
}

TEST_P(Contract, RemoveReportsWhatItFound) {
  EXPECT_EQ(client->remove("gone").value(), RemoveResult::absent);
  client->set("gone", "x").value();
  EXPECT_EQ(client->remove("gone").value(), RemoveResult::removed);
  EXPECT_FALSE(client->get("gone").value().has_value());
}

TEST_P(Contract, RemoveReportsTheVersionOfWhatItRemovedWhereThereIsOne) {
  const bool versioned = client->supports(Feature::ordered_versions);
  const auto expected = [&](std::string_view key) {
    const Version version = client->set(key, "x").value().version;
    EXPECT_FALSE(version.empty());
    return versioned ? version : Version{};
  };
  const Version first = expected("alone");
  EXPECT_EQ(client->remove("alone").value().version, first);
  EXPECT_EQ(client->remove("alone").value().version, Version{});
  const Version second = expected("future");
  EXPECT_EQ(client->async().remove("future").future().get().value().version, second);
  const Version third = expected("one of many");
  const std::string_view keys[] = {"absent", "one of many"};
  const auto removed = client->remove_many(keys);
  EXPECT_EQ(removed[0].result.value().version, Version{});
  EXPECT_EQ(removed[1].result.value().version, third);
  if (!client->supports(Feature::if_value)) return;
  const Version fourth = expected("compared");
  EXPECT_EQ(client->remove("compared", {.if_value = "x"}).value().version, fourth);
}

TEST_P(Contract, RemoveIfValueRemovesThatValueOnly) {
  client->set("kept", "x").value();
  RemoveOptions options;
  options.if_value = "y";
  if (!has(Feature::if_value, client->remove("kept", options))) {
    EXPECT_EQ(client->get("kept").value()->data, "x");
    return;
  }
  EXPECT_EQ(client->remove("kept", options).value(), RemoveResult::value_differs);
  EXPECT_TRUE(client->get("kept").value().has_value());
  options.if_value = "x";
  EXPECT_EQ(client->remove("kept", options).value(), RemoveResult::removed);
  EXPECT_EQ(client->remove("kept", options).value(), RemoveResult::absent);
}

TEST_P(Contract, AKeyWithATimeToLiveIsGoneAfterIt) {
  SetOptions options;
  options.ttl = std::chrono::duration<double, std::milli>(29.5);
  client->set("brief", "x", options).value();
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (client->get("brief").value().has_value()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
  }
}

// A cluster has a default time to live. Every way to set uses it if no time is given.
TEST_P(Contract, ASetWithoutATimeToLiveUsesTheDefaultOfTheCluster) {
  const std::string uri = endpoint->uri();
  const auto with = [&](const std::string& option) {
    return test::open(uri + (uri.contains('?') ? "&" : "?") + option);
  };
  Client brief = with("default_ttl=20ms");
  const std::vector<std::string> keys = {"set", "many 1", "many 2", "async", "added"};
  const SetItem many[] = {{keys[1], "x"}, {keys[2], "x"}};
  const SetOptions own{.ttl = 1h};
  brief.set(keys[0], "x").value();
  for (const auto& item : brief.set_many(many)) item.result.value();
  brief.async().set(keys[3], "x").future().get().value();
  brief.set(keys[4], "x", {.condition = SetCondition::if_absent}).value();
  brief.set("own", "x", own).value();
  brief.set("never", "x", {.ttl = Ttl::never()}).value();
  const auto end = std::chrono::steady_clock::now() + 10s;
  for (const std::string& key : keys) {
    while (client->get(key).value().has_value()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << key << " never expires";
    }
  }
  EXPECT_TRUE(client->get("own").value().has_value());
  with("default_ttl=1h").set("long", "x").value();
  client->set("for ever", "x").value();
  const auto later = std::chrono::steady_clock::now() + 2 * limits().ttl;
  while (std::chrono::steady_clock::now() < later) client->get("long").value();
  EXPECT_TRUE(client->get("long").value().has_value());
  EXPECT_TRUE(client->get("never").value().has_value());
  EXPECT_TRUE(client->get("for ever").value().has_value());
}

TEST_P(Contract, SettingWithoutATimeToLiveClearsTheOldOne) {
  SetOptions options;
  options.ttl = 20ms;
  client->set("renewed", "x", options).value();
  client->set("renewed", "y").value();
  const auto end = std::chrono::steady_clock::now() + 2 * std::max(limits().ttl, 30ms);
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(client->get("renewed").value().has_value());
  }
}

// The server refuses a stale token or, without fencing, to increment a value that is not a number.
TEST_P(Contract, ARefusalIsLoggedOnceWithLevelNodeOperationAndOutcomeAndHidesTheKey) {
  std::vector<LogRecord> records;  // complete once the client is gone
  std::string node;
  std::string operation;
  {
    ClientOptions options;
    options.log = [&](const LogRecord& record) { records.push_back(record); };
    Client logging = test::open(endpoint->uri(), options);
    SetOptions set;
    if (logging.supports(Feature::fencing)) {
      operation = "set";
      set.fence = {logging.set("secret-key", "x").value().version.text};
      logging.set("secret-key", "secret-value", set).value();
      ASSERT_FALSE(logging.set("secret-key", "secret-value"));
    } else {
      operation = "increment";
      logging.set("secret-key", "secret-value").value();
      ASSERT_FALSE(logging.increment("secret-key"));
    }
    node = logging.locate("secret-key")->node;
  }
  std::erase_if(records, [](const LogRecord& record) {
    if (record.operation == "topology") return record.level == LogLevel::info;
    if (record.operation != "health") return false;
    EXPECT_EQ(record.level, LogLevel::info) << record.text;
    EXPECT_EQ(record.text, "up");
    EXPECT_NE(record.node, "");
    return true;
  });
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].level, LogLevel::warning);
  EXPECT_EQ(records[0].node, node);
  EXPECT_EQ(records[0].operation, operation);
  EXPECT_EQ(records[0].outcome, Outcome::refused);
  EXPECT_EQ(records[0].key.size(), 17U);
  EXPECT_TRUE(records[0].key.starts_with('#'));
  EXPECT_EQ((records[0].text + records[0].key).find("secret"), std::string::npos);
}

TEST_P(Contract, AStaleFencingTokenIsRefusedAndChangesNothing) {
  const auto token = [&](std::string_view value) {
    const std::string text = client->set("{f}lock", value).value().version.text;
    return FencingToken{text.empty() ? "no version" : text};
  };
  const FencingToken old_token = token("a");
  const FencingToken new_token = token("b");
  SetOptions options;
  options.fence = new_token;
  if (!has(Feature::fencing, client->set("tried", "new", options))) return;
  ASSERT_TRUE(client->set("{f}guarded", "new", options).value().stored);
  options.fence = old_token;
  const auto stale = client->set("{f}guarded", "old", options);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().outcome, Outcome::refused);
  EXPECT_EQ(stale.error().reason, Reason::fencing_stale);
  EXPECT_FALSE(stale.error().node.empty());
  const auto bare = client->set("{f}guarded", "none");
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().reason, Reason::fencing_required);
  RemoveOptions remove;
  remove.fence = old_token;
  EXPECT_EQ(client->remove("{f}guarded", remove).error().reason, Reason::fencing_stale);
  EXPECT_EQ(client->get("{f}guarded").value()->data, "new");
  remove.fence = new_token;
  EXPECT_EQ(client->remove("{f}guarded", remove).value(), RemoveResult::removed);
}

TEST_P(Contract, WhatTheEndpointLacksIsRefusedAsUnsupportedAndChangesNothing) {
  const SetResult stored = client->set("kept", "1").value();
  has(Feature::if_present, client->set("kept", "1", {.condition = SetCondition::if_present}));
  const Version version = client->get("kept").value()->version;
  has(Feature::if_version,
      client->set("kept", "1", {.condition = SetCondition::if_version, .version = version}));
  RemoveOptions removal;
  removal.if_version = stored.version;
  if (!client->supports(Feature::if_version))
    has(Feature::if_version, client->remove("kept", removal));
  has(Feature::flags, client->set("kept", "1", {.flags = 1}));
  has(Feature::persist, client->set("kept", "1", {.persist = true}));
  has(Feature::edits, client->append("kept", ""));
  has(Feature::edits, client->prepend("kept", ""));
  has(Feature::counters, client->increment("kept", 0));
  has(Feature::counters, client->decrement("kept", 0));
  has(Feature::touch, client->touch("kept"));
  has(Feature::touch, client->get_and_touch("kept"));
  has(Feature::get_and_set, client->get_and_set("kept", "1"));
  for (const NodeText& server : client->server_stats()) has(Feature::server_stats, server.text);
  for (const NodeText& server : client->server_versions()) has(Feature::server_stats, server.text);
  has(Feature::watch, client->watch("kept"));
  EXPECT_EQ(client->get("kept").value()->data, "1");
}

TEST_P(Contract, BadArgumentsAreRefusedWithOneSentenceAndChangeNothing) {
  const auto refused = [](const auto& result, Reason reason) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().outcome, Outcome::invalid);
    EXPECT_EQ(result.error().reason, reason);
    EXPECT_FALSE(result.error().text.empty());
  };
  refused(client->get(""), Reason::bad_argument);
  refused(client->set("", "x"), Reason::bad_argument);
  refused(client->remove(""), Reason::bad_argument);
  refused(client->locate(""), Reason::bad_argument);
  SetOptions zero;
  zero.ttl = 0ms;
  refused(client->set("zero", "x", zero), Reason::bad_argument);
  zero.ttl = -5s;
  refused(client->set("zero", "x", zero), Reason::bad_argument);
  zero.ttl = std::chrono::hours::max();
  refused(client->set("zero", "x", zero), Reason::bad_argument);
  refused(client->get("zero", {0ms}), Reason::bad_argument);
  refused(client->get("zero", {25h}), Reason::bad_argument);
  refused(client->set("zero", std::string((16 << 20) + 1, 'x')), Reason::too_large);
  EXPECT_FALSE(client->get("zero").value().has_value());
}

TEST_P(Contract, ABatchReturnsOneOutcomeForEachDistinctKeyInOrderOfFirstAppearance) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("batch/" + std::to_string(i));
  std::vector<SetItem> items;
  for (const std::string& name : names) items.push_back({name, name});
  items.push_back({names[3], "last"});
  const auto stored = client->set_many(items, {.timeout = 10s});
  ASSERT_EQ(stored.size(), 1000u);
  for (const auto& entry : stored) ASSERT_TRUE(entry.result) << entry.result.error().message();

  std::vector<std::string_view> keys(names.begin(), names.end());
  keys.push_back("batch/absent");
  keys.push_back(names[0]);
  const auto got = client->get_many(keys, {10s});
  ASSERT_EQ(got.size(), 1001u);
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(got[i].key, names[i]);
    ASSERT_TRUE(got[i].result) << got[i].result.error().message();
    ASSERT_TRUE(got[i].result->has_value()) << names[i];
    EXPECT_EQ((*got[i].result)->data, i == 3 ? "last" : names[i]);
  }
  EXPECT_FALSE(got[1000].result->has_value());

  auto again = client->get_many(std::span(keys).first(2), {10s}, client->get_many(keys, {10s}));
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ((*again[1].result)->data, names[1]);

  const auto removed = client->remove_many(keys, {10s});
  ASSERT_EQ(removed.size(), 1001u);
  EXPECT_EQ(*removed[0].result, RemoveResult::removed);
  EXPECT_EQ(*removed[1000].result, RemoveResult::absent);
}

TEST_P(Contract, ABadKeyInABatchSpoilsItselfOnly) {
  const std::string_view keys[] = {"good", "", "other"};
  const auto got = client->get_many(keys);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_TRUE(got[0].result);
  EXPECT_EQ(got[1].result.error().outcome, Outcome::invalid);
  EXPECT_TRUE(got[2].result);
  EXPECT_TRUE(client->get_many({}).empty());
}

TEST_P(Contract, CallbackAndFutureFormsEndLikeBlockingOnes) {
  ASSERT_TRUE(client->async().set("async", "v").future().get().value().stored);
  std::latch done(4);
  client->async().get("async").then([&](Result<GetResult> got) {
    EXPECT_EQ(got.value()->data, "v");
    done.count_down();
  });
  client->async().set("async2", "w").then([&](Result<SetResult> set) {
    EXPECT_TRUE(set.value().stored);
    EXPECT_EQ(client->get("async2").value()->data, "w");  // a blocking call from a callback
    done.count_down();
  });
  client->async().remove("async3").then([&](Result<RemoveResult> removed) {
    EXPECT_EQ(removed.value(), RemoveResult::absent);
    done.count_down();
  });
  const std::string_view keys[] = {"async", "async4"};
  client->async().get_many(keys).then([&](std::vector<KeyResult<GetResult>> got) {
    EXPECT_EQ(got.size(), 2u);
    done.count_down();
  });
  done.wait();
  EXPECT_EQ(client->async().get_many(keys).future().get().size(), 2u);
  EXPECT_EQ(client->async().get("async").future().get().value()->data, "v");
  EXPECT_EQ(client->async().remove("async").future().get().value(), RemoveResult::removed);
  EXPECT_EQ(client->async().get("").future().get().error().outcome, Outcome::invalid);
}

TEST_P(Contract, TemporaryKeysAndValuesMayDieAfterAnAsynchronousCall) {
  std::vector<std::future<Result<SetResult>>> writes;
  for (int i = 0; i < 300; ++i) {
    const std::string key = "temp/" + std::to_string(i);
    const std::string value(20'000, static_cast<char>('a' + i % 26));
    SetOptions options;
    options.timeout = 10s;
    writes.push_back(client->async().set(key, value, options).future());
  }
  for (auto& write : writes) {
    const auto result = write.get();
    ASSERT_TRUE(result) << result.error().message();
  }
  for (int i = 0; i < 300; ++i) {
    const auto got = client->get("temp/" + std::to_string(i));
    ASSERT_TRUE(got && got->has_value());
    ASSERT_EQ((*got)->data, std::string(20'000, static_cast<char>('a' + i % 26)));
  }
}

TEST_P(Contract, ManyThreadsShareOneClient) {
  constexpr int threads = 8;
  std::vector<std::thread> crowd;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < threads; ++t) {
    crowd.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = "thread/" + std::to_string(t) + "/" + std::to_string(i % 7);
        const std::string value = key + "=" + std::to_string(i);
        const auto set = client->set(key, value, {.timeout = 10s});
        const auto got = client->get(key, {10s});
        if (!set || !got || !*got || (*got)->data != value) ++wrong;
      }
    });
  }
  for (auto& thread : crowd) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Contract, ASecondClientFindsEveryKeyAndAgreesWhereItIs) {
  Client second = test::open(endpoint->uri());
  std::set<std::string> nodes;
  for (int i = 0; i < 200; ++i) {
    const std::string key = "shared/" + std::to_string(i);
    client->set(key, key).value();
    EXPECT_EQ(second.get(key).value()->data, key);
    EXPECT_EQ(second.locate(key)->node, client->locate(key)->node);
    nodes.insert(client->locate(key)->node);
  }
  EXPECT_EQ(nodes.size(), 3u);
}

TEST_P(Contract, KeysWithOneTagShareANode) {
  client->get("order-7").value();  // where servers decide on owners, the client learns them here
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client->locate("{order-7}/" + std::to_string(i))->node,
              client->locate("order-7")->node);
  }
  EXPECT_EQ(client->locate("{order-7}/1")->routing_key, "order-7");
}

TEST_P(Contract, NodesReportHealthRoundTripAndClock) {
  const auto reports = client->check_nodes({.timeout = 5s});
  ASSERT_EQ(reports.size(), 3u);
  for (const NodeReport& report : reports) {
    EXPECT_FALSE(report.error) << report.error->message();
    EXPECT_EQ(report.stats.health, NodeHealth::up);
    EXPECT_TRUE(report.round_trip);
    EXPECT_EQ(report.stats.connections, 1u);
    ASSERT_EQ(report.clock_difference.has_value(), client->supports(Feature::clock));
    if (report.clock_difference) {
      EXPECT_LT(std::chrono::abs(*report.clock_difference), 5s);
    }
  }
}

TEST_P(Contract, StatisticsCountWhatHappened) {
  for (int i = 0; i < 30; ++i) client->set("count/" + std::to_string(i), "x").value();
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  for (const NodeStats& node : client->stats()) {
    requests += node.requests;
    replies += node.replies;
    EXPECT_EQ(node.in_flight, 0u);
    EXPECT_GT(node.bytes_sent, 0u);
    EXPECT_GT(node.bytes_received, 0u);
  }
  EXPECT_EQ(requests, 30u);
  EXPECT_EQ(replies, 30u);
}

}  // namespace
}  // namespace sheaf
