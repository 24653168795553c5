#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/dev/broker_files.h"
#include "cli/dev/resp_files.h"
#include "store/plugin/sink.h"

namespace sheaf::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A tree of files that is removed with the test.
class DevFiles : public testing::Test {
 protected:
  DevFiles() {
    std::string name = (fs::temp_directory_path() / "sheaf-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  ~DevFiles() override { fs::remove_all(root_); }

  fs::path make(const fs::path& path, bool program = false) const {
    const fs::path full = root_ / path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << "x";
    if (program) fs::permissions(full, fs::perms::owner_all);
    return full;
  }

  fs::path root_;
};

TEST_F(DevFiles, MosquittoIsFoundInPathWhereItCanBeRun) {
  make("first/mosquitto");
  const fs::path runnable = make("second/mosquitto", true);
  const std::string path = (root_ / "first").string() + "::" + (root_ / "second").string();
  const auto found = find_mosquitto("", path);
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(*found, runnable);
}

TEST_F(DevFiles, AGivenMosquittoIsTakenOrRefusedByName) {
  const fs::path runnable = make("here/broker", true);
  EXPECT_EQ(find_mosquitto(runnable.string(), "").value_or(""), runnable);
  const auto missing = find_mosquitto((root_ / "nowhere").string(), "");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error(), HasSubstr("nowhere"));
}

TEST_F(DevFiles, AServerOfTheRedisProtocolIsFoundByItsKind) {
  for (const ServerTraits& kind : server_kinds) {
    if (!kind.forms_clusters) continue;
    const fs::path runnable = make(fs::path(kind.noun) / kind.program, true);
    const std::string folder = runnable.parent_path().string();
    EXPECT_EQ(find_resp_server(kind, "", folder).value_or(""), runnable);
    const fs::path other = make("other", true);
    EXPECT_EQ(find_resp_server(kind, other.string(), folder).value_or(""), other);
    ServerTraits unknown = kind;
    unknown.program = "no-such-server";
    const auto missing = find_resp_server(unknown, "", folder);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error(), HasSubstr("no-such-server is neither in PATH"));
    EXPECT_THAT(missing.error(), HasSubstr(kind.named_by));
  }
}

TEST_F(DevFiles, ThePluginOfTheBuildTreeComesBeforeAnInstalledOne) {
  const fs::path installed = make("lib/sheaf/libsheaf_statestore.so");
  const auto first = find_plugin("", root_ / "bin");
  ASSERT_TRUE(first) << first.error();
  EXPECT_EQ(*first, installed);
  const fs::path built = make("store/plugin/libsheaf_statestore.so");
  EXPECT_EQ(find_plugin("", root_ / "cli").value_or(""), built);
}

TEST_F(DevFiles, AGivenPluginMustBeAFileThatTheConfigurationCanName) {
  const fs::path file = make("my plugin.so");
  EXPECT_EQ(find_plugin(file.string(), root_).value_or(""), file);
  EXPECT_FALSE(find_plugin((root_ / "nowhere.so").string(), root_));
  EXPECT_FALSE(find_plugin(make("line\nbreak.so").string(), root_));
}

TEST(DevConfiguration, TheBrokerListensOnLoopbackWithThePluginAndItsSink) {
  const std::string text = broker_configuration(
      {.port = 41234, .plugin = "/p/libsheaf_statestore.so", .spelling = "", .root = false});
  EXPECT_THAT(text, HasSubstr("listener 41234 127.0.0.1\n"));
  EXPECT_THAT(text, HasSubstr("\nplugin /p/libsheaf_statestore.so\n"));
  EXPECT_THAT(text, HasSubstr("set_tcp_nodelay true\n"));
  EXPECT_THAT(text, HasSubstr(std::string(store::plugin::sink_bridge)));
  EXPECT_THAT(text, Not(HasSubstr("user root")));
  EXPECT_THAT(text, Not(HasSubstr("plugin_opt")));
}

TEST(DevConfiguration, RootKeepsItsRightToReadThePluginAndOptionsFollowThePlugin) {
  const std::string text =
      broker_configuration({.port = 1, .plugin = "/p.so", .spelling = "page", .root = true});
  EXPECT_TRUE(text.starts_with("user root\n"));
  EXPECT_THAT(text, HasSubstr("plugin /p.so\nplugin_opt_spelling page\n"));
}

TEST(DevConfiguration, ABrokerOfAPodHasACertificateAndAListOfTokens) {
  const std::string text = broker_configuration(
      {.port = 1,
       .plugin = "/p.so",
       .spelling = "",
       .login = {.certificate = "/d/tls.crt", .key = "/d/tls.key", .tokens = "/d/tokens"},
       .root = false});
  EXPECT_THAT(text, HasSubstr("listener 1 127.0.0.1\ncertfile /d/tls.crt\nkeyfile /d/tls.key\n"));
  EXPECT_THAT(text, HasSubstr("plugin /p.so\nplugin_opt_tokens /d/tokens\n"));
}

// A Garnet with only as many threads as processors answers no request for seconds while slots move.
TEST(GarnetArguments, AGarnetHasThreadsForRequestsThatWait) {
  const auto words = garnet_arguments(7'000, "/data", false);
  const auto option = std::ranges::find(words, "--minthreads");
  ASSERT_NE(option, words.end());
  EXPECT_EQ(*std::next(option), "64");
}

}  // namespace
}  // namespace sheaf::cli
