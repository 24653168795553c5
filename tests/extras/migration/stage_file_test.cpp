// The file from which programs learn the stage of a migration.

#include "extras/migration/stage_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "extras/migration/stage_rules.h"
#include "tests/support/temporary_folder.h"

namespace sheaf::migration {
namespace {

using namespace std::chrono_literals;

std::string wrong(std::string_view text) {
  const auto parsed = parse_migration(text);
  return parsed ? "" : parsed.error();
}

TEST(MigrationFile, WhatIsWrittenIsRead) {
  Migration migration{.stage = MigrationStage::drain,
                      .from = {"c1:11211", "[::1]:11211*2"},
                      .to = {"/run/memcached/a\"b.sock"},
                      .settle = 1500ms};
  const auto read = parse_migration(migration_text(migration));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->stage, migration.stage);
  EXPECT_EQ(read->from, migration.from);
  EXPECT_EQ(read->to, migration.to);
  EXPECT_EQ(read->settle, migration.settle);
}

TEST(MigrationFile, AStageAloneIsEnough) {
  const auto read = parse_migration("{\"stage\": \"mirror\"}");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->stage, MigrationStage::mirror);
  EXPECT_TRUE(read->from.empty());
  EXPECT_FALSE(read->settle);
}

TEST(MigrationFile, WhatCannotBeUnderstoodIsNamed) {
  EXPECT_EQ(wrong("[]"), "it is not a JSON object");
  EXPECT_EQ(wrong("{}"), "it names no stage");
  EXPECT_EQ(wrong("{\"stage\": 1}"), "it names no stage");
  EXPECT_EQ(wrong("{\"stage\": \"Mirror\"}"), "it names an unknown stage");
  EXPECT_EQ(wrong("{\"stage\": \"mirror\", \"from\": \"c1\"}"), "from is not a list of servers");
  EXPECT_EQ(wrong("{\"stage\": \"mirror\", \"to\": [1]}"), "to is not a list of servers");
  EXPECT_EQ(wrong("{\"stage\": \"mirror\", \"settle\": 10}"),
            "settle is not a duration such as \"10s\"");
  EXPECT_EQ(wrong("{\"stage\": \"mirror\", \"settle\": \"0s\"}"),
            "settle is not a duration such as \"10s\"");
  EXPECT_NE(wrong("{\"stage\": \"mirror\""), "");
}

TEST(MigrationFile, EveryStageHasANameAndTheNameFindsIt) {
  for (std::size_t i = 0; i < stage_count; ++i) {
    const auto stage = static_cast<MigrationStage>(i);
    EXPECT_EQ(stage_named(to_string(stage)), stage);
  }
  EXPECT_FALSE(stage_named(""));
}

TEST(MigrationFile, OneThatIsMissingIsTheBeginningAndOneThatIsReplacedIsReadWhole) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("stage.json");
  EXPECT_EQ(read_migration(file).value().stage, MigrationStage::before);
  ASSERT_TRUE(write_migration(file, {.stage = MigrationStage::mirror}));
  ASSERT_TRUE(write_migration(file, {.stage = MigrationStage::switched}));
  EXPECT_EQ(read_migration(file).value().stage, MigrationStage::switched);
  std::ofstream(file) << std::string(70'000, ' ');
  const auto large = read_migration(file);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().reason, Reason::bad_configuration);
  EXPECT_EQ(large.error().text, "the migration file " + file + ": it has more than 64 KiB");
  EXPECT_FALSE(write_migration(folder.file("none/stage.json"), {}));
}

TEST(MigrationFile, WhatCouldNotBeReadAgainIsNotWritten) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("stage.json");
  ASSERT_TRUE(write_migration(file, {.stage = MigrationStage::mirror}));
  const std::vector<std::string> servers(3'000, "a-long-name.of-a-server.example:11211");
  const auto large = write_migration(file, {.stage = MigrationStage::switched, .from = servers});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().reason, Reason::bad_configuration);
  EXPECT_NE(large.error().text.find("it would have more than 64 KiB"), std::string::npos);
  EXPECT_EQ(read_migration(file).value().stage, MigrationStage::mirror);
}

TEST(MigrationFile, AFolderThatIsNotThereIsAnErrorAndNoBeginning) {
  const auto read = read_migration("/no-such-folder/stage.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text,
            "the migration file /no-such-folder/stage.json: its folder cannot be used: No such "
            "file or directory");
}

TEST(MigrationFile, ALinkIsFollowedAndWhatIsNoFileStays) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("stage.json");
  const std::string link = folder.file("link.json");
  ASSERT_TRUE(write_migration(file, {.stage = MigrationStage::mirror}));
  std::filesystem::create_symlink("stage.json", link);
  ASSERT_TRUE(write_migration(link, {.stage = MigrationStage::drain}));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_migration(file).value().stage, MigrationStage::drain);
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(write_migration(pipe, {}).error().text,
            "the migration file " + pipe + ": it is not a regular file");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(MigrationFile, AServerOfBothFleetsIsFound) {
  ClusterConfig from;
  from.nodes = {{"c1", 11211, 1}, {"c2", 11211, 1}};
  ClusterConfig to;
  to.nodes = {{"c3", 11211, 1}, {"c2", 11211, 4}};
  EXPECT_EQ(shared_server(from, to), "c2:11211");
  to.nodes.pop_back();
  EXPECT_EQ(shared_server(from, to), "");
}

TEST(MigrationFile, ServersAreTheSameInAnyOrder) {
  ClusterConfig config;
  config.nodes = {{"c2", 11211, 1}, {"c1", 11212, 3}, {"/run/m.sock", 0, 1}};
  EXPECT_TRUE(same_servers(migration_servers(config), {"/run/m.sock", "c1:11212*3", "c2:11211"}));
  EXPECT_FALSE(same_servers(migration_servers(config), {"c1:11212*3", "c2:11211"}));
  EXPECT_FALSE(same_servers({"c1:1"}, {"c1:1*2"}));
}

}  // namespace
}  // namespace sheaf::migration
