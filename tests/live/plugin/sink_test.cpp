// Finding the sink's bridge in configuration files.

#include "store/plugin/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace sheaf::store::plugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SinkFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static std::string command_line(const std::string& file) {
    return std::string("mosquitto\0-v\0-c\0", 16) + file + std::string("\0-d\0", 4);
  }
  const test::TemporaryFolder made_;
  const std::filesystem::path& folder_ = made_.path();
};

Sink find_sink(std::string_view command_line) { return read_settings(command_line).sink; }

bool declared(std::string_view text) {
  std::vector<std::string> folders;
  return declared_sink(text, folders).has_value();
}

TEST(SinkConfiguration, DocumentedBridgeDeclaresTheSink) {
  EXPECT_TRUE(declared(sink_bridge));
  EXPECT_TRUE(declared("listener 1883\r\n\t topic \t$sheaf/statestore/sink\r\n"));
  EXPECT_TRUE(declared("topic $sheaf/statestore/sink both 0"));
}

TEST(SinkConfiguration, OtherLinesDoNot) {
  EXPECT_FALSE(declared(""));
  EXPECT_FALSE(declared("# topic $sheaf/statestore/sink out 0\n"));
  EXPECT_FALSE(declared("topic $sheaf/statestore/sink in 0\n"));
  EXPECT_FALSE(declared("topic $sheaf/statestore/sink2 out 0\n"));
  EXPECT_FALSE(declared("topic\n$sheaf/statestore/sink out 0\n"));
}

TEST(SinkConfiguration, TheClientOfTheBridgeIsTheOneOfItsOwnSection) {
  std::vector<std::string> folders;
  const auto bridge = declared_sink(
      "connection other\nclientid x\nlocal_clientid y\ntopic a/b out 0\n" +
          std::string(sink_bridge) + "connection third\nlocal_clientid z\ntopic c in\n",
      folders);
  ASSERT_TRUE(bridge);
  EXPECT_EQ(bridge->client_id("host"), "local.host.sheaf-sink");
  const auto named = [&](std::string_view lines) {
    return declared_sink(std::string(sink_bridge) + std::string(lines), folders)->client_id("host");
  };
  EXPECT_EQ(named("remote_clientid far\n"), "local.far");
  EXPECT_EQ(named("clientid old\n"), "local.old");
  EXPECT_EQ(named("remote_clientid far\nlocal_clientid near\n"), "near");
}

TEST(SinkConfiguration, IncludedFoldersAreReported) {
  std::vector<std::string> folders;
  EXPECT_FALSE(declared_sink("include_dir /etc/one\n\ninclude_dir\ninclude_dir  two \n", folders));
  EXPECT_THAT(folders, ElementsAre("/etc/one", "two"));
  folders.clear();
  EXPECT_TRUE(declared_sink(sink_bridge, folders));
  EXPECT_THAT(folders, IsEmpty());
}

TEST_F(SinkFiles, AreFoundThroughTheCommandLine) {
  EXPECT_EQ(find_sink(command_line(write("a.conf", sink_bridge))).state, SinkState::declared);
  EXPECT_EQ(find_sink(command_line(write("b.conf", "listener 1883\n"))).state, SinkState::missing);
  const std::string long_form =
      std::string("mosquitto\0--config-file\0", 24) + write("c.conf", sink_bridge) + '\0';
  EXPECT_EQ(find_sink(long_form).state, SinkState::declared);
}

TEST_F(SinkFiles, AreFoundInIncludedFolders) {
  std::filesystem::create_directory(folder_ / "conf.d");
  const std::string file =
      write("main.conf", "include_dir " + (folder_ / "conf.d").string() + "\n");
  EXPECT_EQ(find_sink(command_line(file)).state, SinkState::missing);
  write("conf.d/notes.txt", sink_bridge);  // mosquitto reads *.conf only
  EXPECT_EQ(find_sink(command_line(file)).state, SinkState::missing);
  write("conf.d/sink.conf", sink_bridge);
  EXPECT_EQ(find_sink(command_line(file)).state, SinkState::declared);
}

TEST(BrokerInterval, IsTheLastOneThatIsANumber) {
  EXPECT_EQ(declared_sys_interval("listener 1883\nsys_interval 3\n"), std::chrono::seconds(3));
  EXPECT_EQ(declared_sys_interval("sys_interval 3\n sys_interval\t0\r\n"), std::chrono::seconds(0));
  EXPECT_EQ(declared_sys_interval("# sys_interval 3\nsys_interval x\nsys_interval 65536\n"),
            std::nullopt);
}

TEST_F(SinkFiles, HaveTheIntervalOfTheBrokersNumbers) {
  EXPECT_EQ(read_settings("mosquitto").sys_interval, default_sys_interval);
  EXPECT_EQ(read_settings(command_line(write("a.conf", sink_bridge))).sys_interval,
            default_sys_interval);
  std::filesystem::create_directory(folder_ / "conf.d");
  const std::string file =
      write("main.conf", "sys_interval 60\ninclude_dir " + (folder_ / "conf.d").string() + "\n");
  EXPECT_EQ(read_settings(command_line(file)).sys_interval, std::chrono::seconds(60));
  write("conf.d/own.conf", std::string(sink_bridge) + "sys_interval 0\n");
  const BrokerSettings settings = read_settings(command_line(file));
  EXPECT_EQ(settings.sys_interval, std::chrono::seconds(0));
  EXPECT_EQ(settings.sink.state, SinkState::declared);
}

TEST_F(SinkFiles, ThatCannotBeReadLeaveItOpen) {
  EXPECT_EQ(find_sink(command_line((folder_ / "absent.conf").string())).state, SinkState::unknown);
  const std::string file =
      write("main.conf", "include_dir " + (folder_ / "absent").string() + "\n");
  EXPECT_EQ(find_sink(command_line(file)).state, SinkState::unknown);
}

TEST_F(SinkFiles, ABrokerWithoutAFileHasNoBridge) {
  EXPECT_EQ(find_sink(std::string_view("mosquitto\0-p\0"
                                       "1884\0",
                                       18))
                .state,
            SinkState::missing);
  EXPECT_EQ(find_sink(std::string_view("mosquitto\0-c\0", 13)).state, SinkState::missing);
  EXPECT_EQ(find_sink("").state, SinkState::missing);
}

}  // namespace
}  // namespace sheaf::store::plugin
