// Slots of a Valkey cluster that its servers move by themselves (CLUSTER MIGRATESLOTS, Valkey 9),
// back and forth while threads write and read. SHEAF_MIGRATION_SECONDS is the duration.

#ifdef SHEAF_TEST_REDIS_SERVERS

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/live/client/loaded_cluster.h"

namespace sheaf::test {
namespace {

std::chrono::seconds wanted_time() {
  const char* const named = std::getenv("SHEAF_MIGRATION_SECONDS");
  return std::chrono::seconds(named == nullptr ? 5 : std::stoi(named));
}

TEST(ValkeyMigrations, SlotsMoveAtomicallyToAndFroUnderLoadAndNoCallFails) {
  if (!is_installed(RespSoftware::valkey)) GTEST_SKIP() << not_installed(RespSoftware::valkey);
  RespClusterOptions options;
  options.software = RespSoftware::valkey;
  // The source holds writes until it has learned that the target has the slots. That is a moment,
  // but 3 s were seen on a machine with ten times more to do than processors.
  LoadedCluster loaded(options, 10s);
  if (!loaded.cluster.moves_atomically()) GTEST_SKIP() << "this Valkey is older than 9";
  const auto moves = loaded.move_slots_atomically(wanted_time());
  EXPECT_GE(moves.done, 3u) << "each server has given slots away";
  loaded.expect_all_good();
  EXPECT_EQ(loaded.judge.failures(), "");
}

}  // namespace
}  // namespace sheaf::test

#endif
