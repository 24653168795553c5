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

// Either of the two is stopped for a moment, and the other answers the reads that it does not
// answer. Which one is read from, and whether there is a token just then, depends on the machine,
// so this is repeated until it has happened. A read that is not hedged times out.
TEST(LiveHedgedReads, AreAnsweredByTheOtherHolderWhileOneIsStopped) {
  if (!is_installed(usual_software())) GTEST_SKIP() << not_installed(usual_software());
  RespClusterOptions options;
  options.primaries = primaries;
  options.replicas = 1;
  LentCluster cluster(options);
  cluster->wait_until_settled();
  Client client = open("redis://127.0.0.1:" + std::to_string(cluster->server(1).port()) +
                       "?connect_timeout=5s&timeout=300ms&reads=replicas&hedged_reads=true");
  std::vector<std::string> keys;
  for (unsigned i = 0; keys.size() < 20; ++i) {
    std::string key = "hedged/" + std::to_string(i);
    if (cluster->owner(protocol::resp::hash_slot(key)) == 0) keys.push_back(std::move(key));
  }
  for (const std::string& key : keys) {
    ASSERT_TRUE(client.set(key, "value of " + key, {.timeout = 20s}));
  }
  wait_for_condition("the replica has the keys", [&] {
    return cluster->text(primaries, {"DBSIZE"}) == cluster->text(0, {"DBSIZE"});
  });
  // Returns false after a read that was not answered.
  const auto reads_all = [&] {
    for (const std::string& key : keys) {
      const auto got = client.get(key);
      if (!got) return false;
      EXPECT_EQ(*got ? (*got)->data : "absent", "value of " + key);
    }
    return true;
  };
  for (int i = 0; i < 30; ++i) reads_all();
  wait_for_condition("a hedge wins", [&] {
    for (const std::size_t server : {std::size_t{primaries}, std::size_t{0}}) {
      cluster->stop(server);
      reads_all();
      cluster->resume(server);
      reads_all();
    }
    return testing::Test::HasFailure() || hedges_of(client).won > 0;
  });
  const Hedges all = hedges_of(client);
  EXPECT_GT(all.won, 0u);
  EXPECT_LE(20 * all.sent, all.requests);
}

}  // namespace
}  // namespace sheaf::test

#endif
