// Asynchronous operations of one client on one key are carried out in the order in which they were
// started.

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/async.h>

#include "tests/contract/endpoints.h"

namespace sheaf {
namespace {

class OrderOfAKey : public test::OnEndpoint {};

INSTANTIATE_TEST_SUITE_P(On, OrderOfAKey, testing::ValuesIn(test::all_factories()),
                         [](const auto& test) { return test.param.name; });

// A client's first operations wait for connections, and in a cluster for the owners of slots.
TEST_P(OrderOfAKey, TheFirstOperationsOfAClientKeepIt) {
  for (int round = 0; round < 10; ++round) {
    const std::string key = "key " + std::to_string(round);
    Client fresh = test::open(endpoint->uri());
    const AsyncClient async = fresh.async();
    std::vector<std::future<Result<SetResult>>> sets;
    std::vector<std::future<Result<GetResult>>> gets;
    for (int i = 0; i < 8; ++i) {
      sets.push_back(async.set(key, std::to_string(i)).future());
      gets.push_back(async.get(key).future());
    }
    for (int i = 0; i < 8; ++i) {
      const auto set = sets[static_cast<std::size_t>(i)].get();
      ASSERT_TRUE(set) << set.error().message();
      const auto got = gets[static_cast<std::size_t>(i)].get();
      ASSERT_TRUE(got) << got.error().message();
      ASSERT_TRUE(*got);
      EXPECT_EQ((*got)->data, std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace sheaf
