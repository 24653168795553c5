// Watches on clusters that change, by a client that does nothing else. It learns of a new owner
// only because it asks. Redis notifies; Garnet is polled.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <set>

#include <sheaf/client.h>

#include "protocol/resp/wire/hash_slot.h"
#include "tests/contract/endpoints.h"
#include "tests/support/garnet_process.h"
#include "tests/support/lent_cluster.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using Kind = WatchEvent::Kind;

constexpr auto soon = 60s;

class RedisWatches : public testing::TestWithParam<RespSoftware> {
 protected:
  void SetUp() override {
    if (!is_installed(GetParam())) GTEST_SKIP() << not_installed(GetParam());
    RespClusterOptions options;
    options.software = GetParam();
    options.replicas = 1;
    cluster.emplace(options);
    (*cluster)->wait_until_settled();
    watcher.emplace(open(uri()));
    writer.emplace(open(uri()));
    for (unsigned i = 0; i < 60; ++i) names.push_back("watched" + std::to_string(i));
  }
  std::string uri() {
    return "redis://127.0.0.1:" + std::to_string((*cluster)->server(1).port()) +
           ",127.0.0.1:" + std::to_string((*cluster)->server(2).port()) + "?connect_timeout=2s";
  }
  // Every other key exists from the start.
  void begin() {
    for (std::size_t i = 0; i < names.size(); i += 2) write(names[i], "before");
    const std::vector<std::string_view> keys(names.begin(), names.end());
    watch.emplace(watcher->watch(keys).value());
    for (std::size_t known = 0; known < names.size();) {
      const auto event = watch->next({.wait = soon});
      ASSERT_TRUE(event && *event);
      known += (*event)->kind == Kind::current ? 1 : 0;
    }
  }
  // While the writer does not know a new owner either, its calls fail at once.
  void write(const std::string& name, const std::string& value) {
    wait_for_condition("the key is written", [&] { return writer->set(name, value).has_value(); });
  }
  // Writes every key. Returns when the watch has reported each of them.
  void expect_all_heard(const std::string& value) {
    for (const std::string& name : names) write(name, value);
    std::set<std::string> heard;
    while (heard.size() < names.size()) {
      const auto event = watch->next({.wait = soon});
      ASSERT_TRUE(event && *event) << heard.size() << " keys of " << names.size();
      if ((*event)->kind == Kind::gap) gaps.insert((*event)->key);
      if ((*event)->value == value) heard.insert((*event)->key);
    }
  }

  std::optional<LentCluster> cluster;
  std::optional<Client> watcher;
  std::optional<Client> writer;
  std::vector<std::string> names;
  std::optional<Watch> watch;
  std::set<std::string> gaps;  // keys
};

INSTANTIATE_TEST_SUITE_P(On, RedisWatches, testing::Values(usual_software(), RespSoftware::garnet),
                         [](const auto& each) { return traits_of(each.param).name; });

TEST_P(RedisWatches, FollowKeysWhoseSlotsMove) {
  begin();
  std::set<std::uint16_t> slots;
  for (const std::string& name : names) slots.insert(protocol::resp::hash_slot(name));
  const std::vector<std::size_t> owners = (*cluster)->owners();
  std::vector<std::vector<std::uint16_t>> moving(3);
  for (const std::uint16_t slot : slots) moving[owners[slot]].push_back(slot);
  for (std::size_t from = 0; from < 3; ++from) {
    (*cluster)->migrate(from, (from + 1) % 3, moving[from]);
  }
  expect_all_heard("moved");
  EXPECT_EQ(gaps.size(), names.size()) << "what happened while a key moved may have been missed";
  expect_all_heard("after");
  if (!(*cluster)->moves_atomically()) return;
  (*cluster)->wait_until_settled();
  for (std::size_t to = 0; to < 3; ++to) {
    (*cluster)->begin_atomic_migration((to + 1) % 3, to, moving[to]);
    EXPECT_EQ((*cluster)->end_of_atomic_migration((to + 1) % 3), "success");
  }
  expect_all_heard("back");
}

TEST_P(RedisWatches, FollowKeysOfAPrimaryThatFailsOver) {
  begin();
  (*cluster)->fail_over(3, GetParam() == RespSoftware::garnet ? "FORCE" : "");
  expect_all_heard("failed over");
  expect_all_heard("after");
}

TEST_P(RedisWatches, FollowKeysOfAPrimaryThatIsKilledAndReplaced) {
  begin();
  (*cluster)->kill(0);
  EXPECT_EQ((*cluster)->text(3, {"CLUSTER", "FAILOVER", "TAKEOVER"}), "+OK");
  expect_all_heard("replaced");
  std::set<std::string> lost;
  for (const std::string& name : names) {
    if ((*cluster)->owner(protocol::resp::hash_slot(name)) == 3) lost.insert(name);
  }
  ASSERT_FALSE(lost.empty());
  for (const std::string& name : lost) EXPECT_TRUE(gaps.contains(name)) << name;
}

TEST_P(RedisWatches, HearWhatWasWrittenAfterAServerStoodStill) {
  begin();
  (*cluster)->stop(1);
  const auto stopped = std::chrono::steady_clock::now();
  wait_for_condition("the line is given up",
                     [&] { return std::chrono::steady_clock::now() - stopped > 4s; });
  (*cluster)->resume(1);
  expect_all_heard("resumed");
}

}  // namespace
}  // namespace sheaf::test

#endif
