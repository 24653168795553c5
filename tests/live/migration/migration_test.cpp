// The program moves a cache of 100,000 keys between two fleets of real memcached servers while
// other threads use it. It is killed several times on the way.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "tests/live/migration/cache_load.h"
#include "tests/live/migration/migration_program.h"
#include "tests/support/memcached_process.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using Stage = MigrationStage;

constexpr std::chrono::milliseconds settle{1'000};

constexpr std::size_t many_keys = share_of(100'000);
constexpr std::size_t some_keys = share_of(20'000);

class Migrations : public testing::Test {
 protected:
  Migrations() {
    for (int i = 0; i < 2; ++i) old_.push_back(std::make_unique<MemcachedProcess>(large()));
    for (int i = 0; i < 3; ++i) new_.push_back(std::make_unique<MemcachedProcess>(large()));
  }

  static MemcachedOptions large() {
    MemcachedOptions options;
    options.arguments = {"-m", "128", "-t", "1"};
    return options;
  }
  static std::string uri(const std::vector<std::unique_ptr<MemcachedProcess>>& servers) {
    std::string text = "memcached://";
    for (const auto& server : servers) {
      text += (text.back() == '/' ? "" : ",") + ("127.0.0.1:" + std::to_string(server->port()));
    }
    return text;
  }

  MigrationProgram program(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"--from", uri(old_),  "--to", uri(new_),   "--state",
                                   file_,    "--settle", "1s",   "--callers", "16"};
    words.insert(words.end(), more.begin(), more.end());
    return MigrationProgram(SHEAF_TEST_PROGRAM, words, folder_.file("printed"));
  }
  Stage stage() const { return read_migration(file_).value().stage; }
  // Kills the program once `reached` returns true.
  static void kill_when(MigrationProgram& running, const std::function<bool()>& reached) {
    const auto end = std::chrono::steady_clock::now() + 300s;
    while (!reached()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << running.printed();
      ASSERT_FALSE(running.ended()) << running.printed();
      std::this_thread::yield();
    }
    running.kill();
  }
  void kill_in(Stage wanted) {
    MigrationProgram running = program();
    kill_when(running, [&] { return stage() == wanted; });
  }
  // Kills it while it moves values, when some have arrived.
  void kill_after_keys(std::uint64_t keys, const std::vector<std::unique_ptr<MemcachedProcess>>& at,
                       Stage wanted, const std::vector<std::string>& more = {}) {
    MigrationProgram running = program(more);
    kill_when(running, [&] { return stage() == wanted && items(at) >= keys; });
  }
  static std::uint64_t items(const std::vector<std::unique_ptr<MemcachedProcess>>& servers) {
    auto client = Client::open(uri(servers));
    std::uint64_t sum = 0;
    for (const NodeText& node : client.value().server_stats({}, {.timeout = 10s})) {
      const std::string& text = node.text.value();
      const std::size_t place = text.find("curr_items ");
      sum += std::strtoull(text.c_str() + place + 11, nullptr, 10);
    }
    return sum;
  }
  int finish(const std::vector<std::string>& more = {}) {
    MigrationProgram running = program(more);
    const int code = running.wait();
    EXPECT_EQ(code, 0) << running.printed();
    return code;
  }
  void expect_right(const CacheLoad& load) const {
    EXPECT_EQ(load.stale(), 0u);
    EXPECT_EQ(load.foreign(), 0u);
    EXPECT_LT(load.failed(), load.calls() / 50) << load.first_error();
    const auto sums = load.sums();
    const double before = sums.at(Stage::before).rate();
    EXPECT_GT(before, 0.9);
    for (const auto& [stage, sum] : sums) {
      std::printf("%-9s %9llu gets, hit rate %.4f\n", std::string(to_string(stage)).c_str(),
                  static_cast<unsigned long long>(sum.gets), sum.rate());
      EXPECT_GE(sum.rate(), 0.9 * before) << to_string(stage);
    }
  }

  std::vector<std::unique_ptr<MemcachedProcess>> old_;
  std::vector<std::unique_ptr<MemcachedProcess>> new_;
  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.file("migration.json");
};

TEST_F(Migrations, OfAUsedCacheEndWithoutAStaleReadThoughTheProgramIsKilledInEachStage) {
  CacheLoad load(uri(old_), uri(new_), file_, many_keys, settle);
  load.fill();
  load.start();
  load.wait_for(20'000);
  kill_after_keys(many_keys / 10, new_, Stage::mirror);
  kill_in(Stage::switched);
  kill_in(Stage::drain);
  EXPECT_EQ(finish(), 0);
  load.wait_for(20'000);
  load.stop();
  expect_right(load);
  EXPECT_EQ(stage(), Stage::after);
  EXPECT_LT(items(old_), many_keys / 100);
  EXPECT_GT(items(new_), many_keys * 9 / 10);
}

TEST_F(Migrations, ThatWereKilledWhileTheyDrainGoBackWithoutAStaleRead) {
  CacheLoad load(uri(old_), uri(new_), file_, some_keys, settle);
  load.fill();
  load.start();
  load.wait_for(20'000);
  EXPECT_EQ(finish({"--until", "switched"}), 0);
  {
    MigrationProgram running = program();
    kill_when(running, [&] { return stage() == Stage::drain && items(old_) < some_keys / 2; });
  }
  {
    MigrationProgram back = program({"--back"});
    kill_when(back, [&] { return stage() == Stage::restore && items(old_) > some_keys / 2; });
  }
  EXPECT_EQ(finish({"--back"}), 0);
  load.wait_for(20'000);
  load.stop();
  expect_right(load);
  EXPECT_EQ(stage(), Stage::before);
  EXPECT_GT(items(old_), some_keys * 9 / 10);
}

}  // namespace
}  // namespace sheaf::test
