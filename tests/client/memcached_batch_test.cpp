// Large batches on three real memcached servers, in both protocols.

#include <gtest/gtest.h>

#include <thread>

#include <sheaf/client.h>

#include "tests/client/endpoints.h"

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
  // Some have a blank, and go as base64 in meta.
  static std::string key_of(unsigned i) {
    return (i % 97 == 0 ? "batch " : "batch/") + std::to_string(i);
  }
  // Some are empty, some above 8 KiB.
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

TEST_P(MemcachedBatch, ManyThreadsAtOnceGetTheirOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 5; ++i) expect_all(read());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const NodeStats& node : client->stats()) EXPECT_EQ(node.connects, 1u) << node.node;
}

// A list of gets shows the stub that holds somebody's lease as an empty value.
TEST_P(MemcachedBatch, AKeyThatSomebodyComputesIsAbsent) {
  const std::string computed = "batch/990";  // not there: computed below
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
