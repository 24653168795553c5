// Large batches on three real memcached servers, in both protocols.

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

class MemcachedBatch : public testing::TestWithParam<test::EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint = GetParam().make();
    client.emplace(test::open(endpoint->uri()));
    for (unsigned i = 0; i < 1'000; ++i) keys.push_back(key_of(i));
    for (unsigned i = 0; i < 1'000; ++i) {
      if (i % 10 == 0) continue;  // absent
      ASSERT_TRUE(client->set(keys[i], value_of(i)).value().stored);
    }
  }
  // Some names have a blank and are sent as base64 in meta.
  static std::string key_of(unsigned i) {
    return (i % 97 == 0 ? "batch " : "batch/") + std::to_string(i);
  }
  // Some are empty, some larger than 8 KiB.
  static std::string value_of(unsigned i) {
    if (i % 31 == 0) return {};
    return "value " + std::to_string(i) + std::string(i % 101 == 0 ? 20'000 : 0, '.');
  }
  void expect_all(const std::vector<KeyResult<GetResult>>& all) const {
    ASSERT_EQ(all.size(), keys.size());
    for (unsigned i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].key, keys[i]);
      ASSERT_TRUE(all[i].result) << all[i].result.error().message();
      const GetResult& got = *all[i].result;
      ASSERT_EQ(got.has_value(), i % 10 != 0) << keys[i];
      if (!got) continue;
      EXPECT_EQ(got->data, value_of(i)) << keys[i];
    }
  }
  std::vector<KeyResult<GetResult>> read() {
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    return client->get_many(views, {.timeout = 20s});
  }

  std::unique_ptr<test::Endpoint> endpoint;
  std::optional<Client> client;
  std::vector<std::string> keys;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MemcachedBatch);
INSTANTIATE_TEST_SUITE_P(On, MemcachedBatch, testing::ValuesIn(test::memcached_factories()),
                         [](const auto& test) { return test.param.name; });

TEST_P(MemcachedBatch, EveryKeyGetsItsOwnValueAndTheConnectionsStay) {
  for (int i = 0; i < 5; ++i) expect_all(read());
  for (const NodeStats& node : client->stats()) EXPECT_EQ(node.connects, 1u) << node.node;
}

TEST_P(MemcachedBatch, ResultsOfAnEarlierCallLendTheirMemoryAndNothingElse) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  auto all = client->get_many({}, {.timeout = 20s}, {});
  EXPECT_TRUE(all.empty());
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::vector<std::string_view> others(views.rbegin(), views.rend() - static_cast<int>(shift));
    others.push_back("");  // an error
    all = client->get_many(others, {.timeout = 20s}, std::move(all));
    EXPECT_EQ(all.size(), others.size());
    all = client->get_many(views, {.timeout = 20s}, std::move(all));
    expect_all(all);
    const void* const memory = all.data();
    all = client->get_many(views, {.timeout = 20s}, std::move(all));
    expect_all(all);
    EXPECT_EQ(all.data(), memory);
  }
}

TEST_P(MemcachedBatch, ManyThreadsAtOnceGetTheirOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 5; ++i) expect_all(read());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const NodeStats& node : client->stats()) {
    EXPECT_EQ(node.connections_lost, 0u) << node.node;
    EXPECT_LE(node.connects, 1 + client->config().extra_connections) << node.node;
  }
}

TEST_P(MemcachedBatch, AsyncAndFutureFormsGetThemToo) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  auto future = client->async().get_many(views, {.timeout = 20s}).future();
  std::promise<std::vector<KeyResult<GetResult>>> promise;
  client->async().get_many(views, {.timeout = 20s}).then([&](auto all) {
    promise.set_value(std::move(all));
  });
  expect_all(future.get());
  expect_all(promise.get_future().get());
}

TEST_P(MemcachedBatch, AValueAboveTheLimitFailsItsOwnKeyOnly) {
  Client small = test::open(endpoint->uri() + "&value_limit=10000");
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto all = small.get_many(views, {.timeout = 20s});
  for (unsigned i = 0; i < all.size(); ++i) {
    if (i % 10 == 0 || value_of(i).size() <= 10'000) {
      ASSERT_TRUE(all[i].result) << all[i].result.error().message();
      ASSERT_EQ(all[i].result->has_value(), i % 10 != 0) << keys[i];
      continue;
    }
    ASSERT_FALSE(all[i].result) << keys[i];
    EXPECT_EQ(all[i].result.error().outcome, Outcome::refused);
    EXPECT_EQ(all[i].result.error().reason, Reason::too_large);
    EXPECT_FALSE(all[i].result.error().node.empty());
  }
}

TEST_P(MemcachedBatch, TheStatisticsCountEachKey) {
  const auto requests = [&] {
    std::uint64_t sum = 0;
    for (const NodeStats& node : client->stats()) {
      EXPECT_EQ(node.requests, node.replies);
      sum += node.requests;
    }
    return sum;
  };
  const std::uint64_t before = requests();
  std::vector<std::string_view> plain;
  for (unsigned i = 1; i < 31; ++i) plain.push_back(keys[i]);  // no blanks, none empty
  client->get_many(plain, {.timeout = 20s});
  EXPECT_EQ(requests() - before, plain.size());
}

// A server that the machine leaves without a core for 250 ms is taken for down, which ends requests
// by another reason.
TEST_P(MemcachedBatch, ADeadlineThatHasPassedIsNoMiss) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  for (int i = 0; i < 50; ++i) {
    const auto all = client->get_many(views, {.timeout = std::chrono::milliseconds(1)});
    for (unsigned at = 0; at < all.size(); ++at) {
      if (all[at].result) {
        ASSERT_EQ(all[at].result->has_value(), at % 10 != 0) << keys[at];
        continue;
      }
      const Error& error = all[at].result.error();
      EXPECT_TRUE(error.reason == Reason::timed_out || error.reason == Reason::node_down)
          << error.message();
    }
  }
}

// A list of gets shows the stub of another client's lease as an empty value.
TEST_P(MemcachedBatch, AKeyThatSomebodyComputesIsAbsent) {
  const std::string computed = "batch/990";  // not there; computed below
  const auto got = client->get_or_compute(computed, {.timeout = 20s}, [&] {
    expect_all(read());
    return std::string("made");
  });
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->data, "made");
  EXPECT_EQ(client->get(computed).value().value().data, "made");
}

}  // namespace
}  // namespace sheaf
