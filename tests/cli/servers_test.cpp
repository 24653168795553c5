// How the program finds the servers that it works with.

#include "cli/line/servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sheaf::cli {
namespace {

using testing::HasSubstr;

class CliServers : public testing::Test {
 protected:
  CliServers() {
    std::string name = testing::TempDir() + "sheaf-servers-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CliServers() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string host_of(const Result<ChosenServers>& chosen) {
    return chosen ? chosen->config.nodes.front().host : chosen.error().text;
  }
  static std::string one(const std::string& host) {
    return R"({"clusters": {"only": {"servers": "mqtt://)" + host + R"("}}})";
  }

  std::filesystem::path folder_;
};

constexpr const char* two = R"({"clusters": {"a": {"servers": "mqtt://host-a"},
                                             "b": {"servers": "mqtt://host-b"}}})";
constexpr const char* with_default = R"({"clusters": {"a": {"servers": "mqtt://host-a"},
                                             "default": {"servers": "mqtt://host-d"}}})";

TEST_F(CliServers, TheFirstPlaceThatNamesThemCounts) {
  GlobalArguments global;
  Environment environment;
  EXPECT_EQ(host_of(choose_servers(global, environment)),
            "no servers are named: use --servers URI or --config FILE, SHEAF_SERVERS or "
            "SHEAF_CONFIG, the file ~/.config/sheaf.json, or AIO_BROKER_HOSTNAME");
  environment.broker = "AIO_BROKER_HOSTNAME";
  EXPECT_EQ(host_of(choose_servers(global, environment)),
            "the environment names no broker: set AIO_BROKER_HOSTNAME");
  environment.own_file = folder_ / "sheaf.json";
  EXPECT_EQ(host_of(choose_servers(global, environment)),
            "the environment names no broker: set AIO_BROKER_HOSTNAME");
  file("sheaf.json", one("of-own-file"));
  EXPECT_EQ(host_of(choose_servers(global, environment)), "of-own-file");
  environment.config = file("env.json", one("of-env-file"));
  EXPECT_EQ(host_of(choose_servers(global, environment)), "of-env-file");
  environment.servers = "mqtt://of-env";
  EXPECT_EQ(host_of(choose_servers(global, environment)), "of-env");
  global.config = file("option.json", one("of-option-file"));
  EXPECT_EQ(host_of(choose_servers(global, environment)), "of-option-file");
  global.config.clear();
  global.servers = "mqtt://of-option";
  EXPECT_EQ(host_of(choose_servers(global, environment)), "of-option");
}

TEST_F(CliServers, APlaceOtherThanTheCommandLineIsNamed) {
  GlobalArguments global;
  Environment environment;
  const auto place = [&] { return choose_servers(global, environment).value().place; };
  environment.own_file = file("sheaf.json", one("of-own-file"));
  EXPECT_EQ(place(), environment.own_file);
  environment.config = file("env.json", one("of-env-file"));
  EXPECT_EQ(place(), "SHEAF_CONFIG");
  environment.servers = "mqtt://of-env";
  EXPECT_EQ(place(), "SHEAF_SERVERS");
  global.config = file("option.json", one("of-option-file"));
  EXPECT_EQ(place(), "");
  global.servers = "mqtt://of-option";
  EXPECT_EQ(place(), "");
}

TEST_F(CliServers, AFileOfSeveralClustersHasADefaultOrIsAsked) {
  GlobalArguments global;
  global.config = file("two.json", two);
  EXPECT_EQ(host_of(choose_servers(global, {})),
            global.config +
                " has several clusters, and none is named \"default\": choose one with --cluster "
                "NAME or SHEAF_CLUSTER from \"a\", \"b\"");
  global.cluster = "b";
  EXPECT_EQ(host_of(choose_servers(global, {})), "host-b");
  Environment environment;
  environment.cluster = "a";
  EXPECT_EQ(host_of(choose_servers(global, environment)), "host-b") << "the option comes first";
  global.cluster.clear();
  EXPECT_EQ(host_of(choose_servers(global, environment)), "host-a");
  environment.cluster = "c";
  EXPECT_EQ(host_of(choose_servers(global, environment)),
            global.config + " has no cluster \"c\", only \"a\", \"b\"");
  global.config = file("default.json", with_default);
  EXPECT_EQ(host_of(choose_servers(global, {})), "host-d");
}

TEST_F(CliServers, WhoNamesAClusterMeansAFileAndNotTheEnvironmentsServers) {
  GlobalArguments global;
  global.cluster = "b";
  Environment environment;
  environment.servers = "mqtt://of-env";
  environment.broker = "AIO_BROKER_HOSTNAME";
  EXPECT_THAT(host_of(choose_servers(global, environment)),
              HasSubstr("--cluster needs a configuration file"));
  environment.own_file = file("sheaf.json", two);
  EXPECT_EQ(host_of(choose_servers(global, environment)), "host-b");
}

// In a pod the program has the environment of another one, whose connection it must not end.
TEST_F(CliServers, AClientIdOfTheEnvironmentIsTheBeginningOfOneHere) {
  Environment environment;
  environment.broker = "AIO_BROKER_HOSTNAME";
  const auto ids_with = [&](const std::string& id) {
    setenv("AIO_BROKER_HOSTNAME", "aio-broker", 1);
    setenv("AIO_MQTT_CLIENT_ID", id.c_str(), 1);
    const auto chosen = choose_servers({}, environment);
    unsetenv("AIO_BROKER_HOSTNAME");
    unsetenv("AIO_MQTT_CLIENT_ID");
    return chosen ? chosen->config.client_id_exact + " " + chosen->config.client_id
                  : chosen.error().text;
  };
  EXPECT_EQ(ids_with("press7"), " press7-cli");
  EXPECT_EQ(ids_with(std::string(60, 'x')), " " + std::string(60, 'x') + "-cli");
  EXPECT_EQ(ids_with(std::string(61, 'x')), " " + std::string(61, 'x')) << "too long";
  EXPECT_EQ(ids_with(""), " sheaf");
  GlobalArguments global;
  global.servers = "mqtt://b?client_id_exact=press7";
  EXPECT_EQ(choose_servers(global, {})->config.client_id_exact, "press7") << "as it was asked for";
}

}  // namespace
}  // namespace sheaf::cli
