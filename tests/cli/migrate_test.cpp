// migrate: its arguments, its file of keys, and the counters it reads.

#include <gtest/gtest.h>

#include "cli/line/migrate_words.h"
#include "cli/migrate/fleets.h"
#include "cli/migrate/key_spool.h"
#include "tests/cli/command_lines.h"

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;

std::string refusal_of_migrate(std::vector<std::string> more) {
  std::vector<std::string> words{"migrate", "--from", "memcached://a", "--to", "memcached://b",
                                 "--state", "f"};
  words.insert(words.end(), more.begin(), more.end());
  return refusal_of(words);
}

TEST(Migrate, ArgumentsAreChecked) {
  EXPECT_EQ(refusal_of_migrate({}), "");
  EXPECT_EQ(refusal_of_migrate({"--until", "switched", "--settle", "2s", "--callers", "3"}), "");
  EXPECT_EQ(refusal_of_migrate({"--until", "restore"}),
            "--until is \"restore\", not one of: mirror, switched, drain, closing, after.");
  EXPECT_EQ(refusal_of_migrate({"--back", "--until", "restore"}), "");
  EXPECT_EQ(
      refusal_of_migrate({"--back", "--until", "after"}),
      "--until with --back is \"after\", not one of: drain, switched, restore, mirror, before.");
  EXPECT_EQ(refusal_of_migrate({"--settle", "10ms"}),
            "--settle is \"10ms\", not 100ms to 1h, an integer followed by ms, s, m or h.");
  EXPECT_EQ(refusal_of_migrate({"--servers", "memcached://c"}),
            "--servers is not for migrate: its servers are given with --from and --to.");
  EXPECT_EQ(refusal_of_migrate({"--callers", "0"}),
            "--callers is \"0\", not a number from 1 to 256.");
  EXPECT_EQ(refusal_of({"migrate", "--from", "memcached://a"}),
            "migrate needs --to: the URI of the servers that take over the cache.");
}

TEST(KeySpool, KeysComeBackInOrderAgainAndAgain) {
  KeySpool keys;
  EXPECT_FALSE(keys.next()) << "nothing was added";
  keys.add("a b");
  keys.add("line\nend");
  for (int i = 0; i < 2; ++i) {
    keys.rewind();
    EXPECT_EQ(keys.next(), "a b");
    EXPECT_EQ(keys.next(), "line\nend");
    EXPECT_FALSE(keys.next());
  }
  EXPECT_EQ(keys.size(), 2u);
  keys.clear();
  keys.rewind();
  EXPECT_FALSE(keys.next());
  EXPECT_TRUE(keys.good());
}

TEST(StageReads, AMissOfTheOldFleetIsTheMissOfAReadThatAskedBoth) {
  const FleetCounts zero;
  const FleetCounts from{20, 5};
  const FleetCounts to{75, 25};
  const auto reads = [&](MigrationStage stage) {
    return reads_between(stage, zero, from, zero, to).value();
  };
  EXPECT_EQ(reads(MigrationStage::mirror).gets, 25u);
  EXPECT_EQ(reads(MigrationStage::mirror).hits, 20u);
  for (const MigrationStage stage :
       {MigrationStage::switched, MigrationStage::drain, MigrationStage::restore}) {
    EXPECT_EQ(reads(stage).gets, 100u);
    EXPECT_EQ(reads(stage).hits, 95u);
  }
  EXPECT_EQ(reads(MigrationStage::after).hits, 75u);
  EXPECT_FALSE(reads_between(MigrationStage::after, from, zero, zero, to))
      << "a server was started again";
}

}  // namespace
}  // namespace sheaf::cli
