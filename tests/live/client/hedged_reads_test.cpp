// Hedged reads of live servers: a cluster of three primaries with one replica each, of which one
// is stopped.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <sheaf/client.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/contract/endpoints.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t primaries = 3;

struct Hedges {
  std::uint64_t sent = 0;
  std::uint64_t won = 0;
  std::uint64_t requests = 0;
};

Hedges hedges_of(const Client& client) {
  Hedges all;
  for (const NodeStats& node : client.stats()) {
    all.sent += node.hedges;
    all.won += node.hedges_won;
    all.requests += node.requests;
  }
  return all;
}

// Whichever of the two is stopped, the other answers the reads that it does not answer. A server
// that is silent is tried again after some seconds, so this happens sooner or later. On a busy
// machine there may be no token for a read, which then times out.
TEST(LiveHedgedReads, AreAnsweredByTheOtherHolderWhileOneIsStopped) {
  if (!is_installed(usual_software())) GTEST_SKIP() << not_installed(usual_software());
  RespClusterOptions options;
  options.primaries = primaries;
  options.replicas = 1;
  LentCluster cluster(options);
  cluster->wait_until_settled();
  const std::string uri = "redis://127.0.0.1:" + std::to_string(cluster->server(1).port()) +
                          "?connect_timeout=5s&timeout=2s&reads=replicas&hedged_reads=true";
  std::vector<std::string> keys;
  for (unsigned i = 0; keys.size() < 20; ++i) {
    std::string key = "hedged/" + std::to_string(i);
    if (cluster->owner(protocol::resp::hash_slot(key)) == 0) keys.push_back(std::move(key));
  }
  for (const std::size_t server : {std::size_t{primaries}, std::size_t{0}}) {
    Client client = open(uri);
    for (const std::string& key : keys) ASSERT_TRUE(client.set(key, "value of " + key));
    wait_for_condition("the replica has the keys", [&] {
      return cluster->text(primaries, {"DBSIZE"}) == cluster->text(0, {"DBSIZE"});
    });
    const auto read_all = [&] {
      for (const std::string& key : keys) {
        const auto got = client.get(key);
        if (!got && got.error().reason == Reason::timed_out) continue;
        ASSERT_TRUE(got) << got.error().message();
        ASSERT_TRUE(*got) << key << " is absent";
        ASSERT_EQ((*got)->data, "value of " + key);
      }
    };
    for (int i = 0; i < 30; ++i) read_all();
    const std::uint64_t before = hedges_of(client).won;
    cluster->stop(server);
    wait_for_condition("a hedge wins", [&] {
      read_all();
      return testing::Test::HasFailure() || hedges_of(client).won > before;
    });
    cluster->resume(server);
    const Hedges all = hedges_of(client);
    EXPECT_LE(20 * all.sent, all.requests);
    read_all();
  }
}

}  // namespace
}  // namespace sheaf::test

#endif
