// Servers known by name. Each connection looks the name up again, and the address affects neither
// the node's name nor the keys that it owns.

#include <gtest/gtest.h>

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#include "tests/support/names.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::MemcachedOptions;
using test::MemcachedProcess;
using test::Names;

constexpr const char* moving = "moving.sheaf.test";
constexpr const char* staying = "staying.sheaf.test";

// One port at two addresses of this machine, because a name cannot lead to another port.
struct Pair {
  Pair() {
    for (int tries = 0; !second; ++tries) {
      first = test::Lent<MemcachedProcess>();
      MemcachedOptions same_port;
      same_port.address = "127.0.0.2";
      same_port.port = (*first)->port();
      try {
        second.emplace(same_port);
      } catch (const std::runtime_error&) {  // another process has that port there
        if (tries == 10) throw;
      }
    }
  }
  std::optional<test::Lent<MemcachedProcess>> first;
  std::optional<test::Lent<MemcachedProcess>> second;
};

// Two nodes known by name. The first one can move.
class NamedNodes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Names::instance().lead(moving, {"127.0.0.1"});
    Names::instance().lead(staying, {"127.0.0.1"});
    nodes = {moving + (":" + std::to_string((*pair.first)->port())),
             staying + (":" + std::to_string(other->port()))};
    client.emplace(test::open("memcached://" + nodes[0] + "," + nodes[1] + "?" + GetParam()));
    for (int i = 0; i < 200; ++i) names.push_back("name/" + std::to_string(i));
    keys.assign(names.begin(), names.end());
    for (const std::string& key : names) owners.push_back(client->locate(key)->node);
  }

  // Returns how many of the keys could be set.
  unsigned set_all(const std::string& value) {
    std::vector<SetItem> items;
    for (const std::string& name : names) items.push_back({name, value});
    unsigned stored = 0;
    for (const auto& [key, result] : client->set_many(items, {.timeout = 10s})) {
      EXPECT_TRUE(result || result.error().node == client->locate(key)->node);
      stored += result && result->stored;
    }
    return stored;
  }
  void set_all_within(std::chrono::seconds limit, const std::string& value) {
    const auto end = Clock::now() + limit;
    while (set_all(value) < names.size()) {
      ASSERT_LT(Clock::now(), end) << client->stats()[0].node << " does not come back";
    }
  }
  // The server, asked by its address, has exactly the keys of this node.
  void expect_keys_of(const std::string& node, const std::string& address,
                      const std::string& value) {
    Client direct = test::open("memcached://" + address);
    const auto found = direct.get_many(keys, {10s});
    for (std::size_t i = 0; i < names.size(); ++i) {
      const GetResult& got = found[i].result.value();
      ASSERT_EQ(got.has_value(), owners[i] == node) << names[i] << " at " << address;
      ASSERT_EQ(got ? got->data : value, value) << names[i];
    }
  }
  void expect_same_places() {
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(client->locate(names[i])->node, owners[i]);
    }
    EXPECT_EQ(client->stats()[0].node, nodes[0]);
    EXPECT_EQ(client->stats()[1].node, nodes[1]);
    for (const NodeReport& report : client->check_nodes({.timeout = 5s})) {
      EXPECT_FALSE(report.error) << report.error->message();
    }
  }

  Pair pair;
  const test::Lent<MemcachedProcess> other;
  std::vector<std::string> nodes;
  std::optional<Client> client;
  std::vector<std::string> names;
  std::vector<std::string_view> keys;
  std::vector<std::string> owners;
};

INSTANTIATE_TEST_SUITE_P(On, NamedNodes,
                         testing::Values("locator=slots", "ring=libmemcached-weighted"),
                         [](const auto& test) { return test.index == 0 ? "Slots" : "SharedRing"; });

TEST_P(NamedNodes, ANodeWhoseNameLeadsElsewhereIsFoundThereAndKeepsItsKeys) {
  ASSERT_EQ(set_all("before"), names.size());
  expect_keys_of(nodes[0], "127.0.0.1:" + std::to_string((*pair.first)->port()), "before");
  const unsigned asked = Names::instance().asked();
  EXPECT_GE(asked, 2u) << "the look-ups of this program are not the ones of this test";

  Names::instance().lead(moving, {"127.0.0.2"});
  pair.first->to_break().kill();
  set_all_within(20s, "after");
  EXPECT_GT(Names::instance().asked(), asked);
  expect_keys_of(nodes[0], "127.0.0.2:" + std::to_string((*pair.second)->port()), "after");
  expect_keys_of(nodes[1], "127.0.0.1:" + std::to_string(other->port()), "after");
  expect_same_places();
  pair.first->to_break().restart();  // for the next borrower of this port
}

// A client with a working connection does not look the name up again.
TEST_P(NamedNodes, ANameThatLeadsElsewhereMovesNobodyWhoIsConnected) {
  ASSERT_EQ(set_all("before"), names.size());
  Names::instance().lead(moving, {"127.0.0.2"});
  ASSERT_EQ(set_all("after"), names.size());
  expect_keys_of(nodes[0], "127.0.0.1:" + std::to_string((*pair.first)->port()), "after");
  expect_same_places();
}

TEST_P(NamedNodes, WhileNamesCannotBeLookedUpTheLastAddressServes) {
  ASSERT_EQ(set_all("before"), names.size());
  Names::instance().forget(moving);
  pair.first->to_break().kill();
  pair.first->to_break().restart();
  set_all_within(20s, "after");
  expect_keys_of(nodes[0], "127.0.0.1:" + std::to_string((*pair.first)->port()), "after");
  expect_same_places();
}

}  // namespace
}  // namespace sheaf
#endif
