// Redis clusters whose servers announce names: some that cannot be resolved here and that appear in
// redirects, and some by which the servers are reached.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <sheaf/client.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using protocol::resp::hash_slot;

class RedisNames : public testing::Test {
 protected:
  void announce(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      cluster.text(i, {"CONFIG", "SET", "cluster-announce-hostname", names.at(i)});
    }
    wait_for_condition("all names are known everywhere", [this] {
      for (const protocol::resp::TopologyView& view : cluster.views()) {
        for (const auto& node : view.nodes) {
          if (node.hostname.empty()) return false;
        }
      }
      return true;
    });
  }
  std::string seed() { return "redis://127.0.0.1:" + std::to_string(cluster.server(0).port()); }
  // Keys whose slots belong to server 0.
  std::vector<std::string> keys(std::size_t count) {
    std::vector<std::string> found;
    for (unsigned i = 0; found.size() < count; ++i) {
      const std::string key = "key" + std::to_string(i);
      if (cluster.owner(hash_slot(key)) == 0) found.push_back(key);
    }
    return found;
  }

  // Uses keys of slots that move from server 0 to server 1. `host`: by which server 0 redirects.
  void expect_redirects_followed(Client& client, std::string_view host = {}) {
    for (const std::string& key : keys(4)) {
      const std::uint16_t slot = hash_slot(key);
      ASSERT_TRUE(client.set(key, "v"));
      cluster.begin_migration(slot, 1);
      cluster.move_keys(slot, 1);
      if (!host.empty()) {
        const auto ask = "ASK " + std::to_string(slot) + " " + std::string(host) + ":";
        EXPECT_NE(cluster.ask(0, {"GET", key}).root().text().find(ask), std::string_view::npos);
      }
      const auto asked = client.get(key);
      ASSERT_TRUE(asked) << asked.error().message();
      EXPECT_EQ((*asked)->data, "v");
      cluster.end_migration(slot, 1);
      const auto moved = client.get(key);
      ASSERT_TRUE(moved) << moved.error().message();
      EXPECT_EQ((*moved)->data, "v");
    }
  }
  void expect_all_on(std::string_view host, const Client& client) {
    ASSERT_EQ(client.stats().size(), cluster.size());
    for (const NodeStats& node : client.stats()) {
      EXPECT_TRUE(node.node.starts_with(std::string(host) + ":")) << node.node;
    }
  }

  const LentCluster lent;
  RespCluster& cluster = *lent;
};

TEST_F(RedisNames, RedirectsByNameAreFollowedAndMakeNoServerTwo) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    cluster.text(i, {"CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname"});
  }
  announce({"node0.invalid", "node1.invalid", "node2.invalid"});
  auto client = Client::open(seed()).value();
  expect_redirects_followed(client, "node1.invalid");
  EXPECT_EQ(client.stats().size(), cluster.size());
}

TEST_F(RedisNames, ServersAreReachedByThemAndRedirectsByAddressMakeNoServerTwo) {
  announce({"localhost", "localhost", "localhost"});
  auto client = Client::open(seed() + "?hosts=names").value();
  expect_redirects_followed(client);
  expect_all_on("localhost", client);
}

// The kind: servers behind a port of one host each, which know only the addresses of their network.
TEST_F(RedisNames, ServersThatNameNoHostsAreReachedAtTheOneThatWasAsked) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    cluster.text(i, {"CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint"});
  }
  auto client =
      Client::open("redis://localhost:" + std::to_string(cluster.server(0).port())).value();
  expect_redirects_followed(client);
  expect_all_on("localhost", client);
}

TEST_F(RedisNames, AnAddressMapLeadsToServersThatNameWhatCannotBeReached) {
  announce({"node0.invalid", "node1.invalid", "node2.invalid"});
  auto client = Client::open(seed() +
                             "?hosts=names&address_map=node0.invalid=localhost,"
                             "node1.invalid=localhost,node2.invalid=localhost")
                    .value();
  expect_redirects_followed(client);
  expect_all_on("localhost", client);

  auto lost = Client::open(seed() + "?hosts=names").value();
  const auto got = lost.get("key");
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().text.find(" (" + seed().substr(8) + " named this address)"),
            std::string::npos)
      << got.error().message();
}

}  // namespace
}  // namespace sheaf::test

#endif
