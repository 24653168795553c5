// Clusters: all clusters of a configuration, by name; and what a moved-from Client reports.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/clusters.h>

#include "tests/contract/endpoints.h"
#include "tests/support/listener.h"
#include "tests/support/temporary_folder.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;

Clusters::Configs parse(std::string_view json) {
  auto configs = ClusterConfig::parse_json(json);
  EXPECT_TRUE(configs) << configs.error().message();
  return std::move(*configs);
}

Clusters open_clusters(std::string_view json) {
  auto clusters = Clusters::open(parse(json));
  if (!clusters) throw std::runtime_error(clusters.error().message());
  return std::move(*clusters);
}

constexpr auto two_caches =
    R"({"clusters":{"sessions":{"servers":"embedded://3"},"prices":{"servers":"embedded://1"}}})";

// A file of this test alone, since other tests run at the same time, with a cluster of memcached
// servers that need not run.
class ClusterFile {
 public:
  explicit ClusterFile(const std::string& servers) { write(servers); }

  void write(const std::string& servers, const std::string& name = "cache") const {
    write_text(R"({"clusters":{")" + name + R"(":{"servers":")" + servers + R"("}}})");
  }
  void write_text(const std::string& text) const {
    std::ofstream(path + ".new") << text;
    std::rename((path + ".new").c_str(), path.c_str());
  }

  const test::TemporaryFolder folder;
  const std::string path = folder.file("clusters.json");
};

TEST(Clusters, AFilesClustersAreOpenedAndFoundByName) {
  const ClusterFile file("memcached://127.0.0.1:1");
  file.write_text(two_caches);
  auto clusters = Clusters::open(file.path);
  ASSERT_TRUE(clusters) << clusters.error().message();
  EXPECT_EQ(clusters->names(), (std::vector<std::string>{"sessions", "prices"}));
  EXPECT_EQ(clusters->size(), 2u);
  EXPECT_TRUE((*clusters)["sessions"].set("k", "v"));
  EXPECT_EQ((*clusters)["sessions"].get("k").value()->data, "v");
  EXPECT_EQ((*clusters)["prices"].config().nodes.size(), 1u);
}

std::vector<std::string> nodes_of(const Client& client) {
  std::vector<std::string> nodes;
  for (const NodeStats& stats : client.stats()) nodes.push_back(stats.node);
  return nodes;
}

using Names = std::vector<std::string>;

TEST(Clusters, AFileThatSaysSomethingElseIsReadAgain) {
  const ClusterFile file("memcached://127.0.0.1:1,127.0.0.1:2*3");
  auto clusters = Clusters::open(file.path);
  ASSERT_TRUE(clusters) << clusters.error().message();
  const auto same = clusters->reload();
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_FALSE(same->at(0).servers->any());
  file.write("memcached://127.0.0.1:2,127.0.0.1:3");
  const auto reloaded = clusters->reload();
  ASSERT_TRUE(reloaded) << reloaded.error().message();
  ASSERT_EQ(reloaded->size(), 1u);
  EXPECT_EQ(reloaded->at(0).name, "cache");
  EXPECT_EQ(reloaded->at(0).servers->added, Names{"127.0.0.1:3"});
  EXPECT_EQ(reloaded->at(0).servers->removed, Names{"127.0.0.1:1"});
  EXPECT_EQ(reloaded->at(0).servers->reweighted, Names{"127.0.0.1:2"});
  EXPECT_EQ(nodes_of((*clusters)["cache"]), (Names{"127.0.0.1:2", "127.0.0.1:3"}));
}

TEST(Clusters, AFileThatCannotBeTakenChangesNothing) {
  const ClusterFile file("memcached://127.0.0.1:1");
  auto clusters = Clusters::open(file.path);
  ASSERT_TRUE(clusters);
  const auto refusal = [&] { return clusters->reload().error().text; };
  file.write("memcached://127.0.0.1:1", "other");
  EXPECT_EQ(refusal(), file.path + ": clusters.other was added after the clusters were opened");
  file.write_text(R"({"clusters":{}})");
  EXPECT_NE(refusal(), "");
  file.write_text("{");
  EXPECT_NE(refusal(), "");
  file.write("memcached://127.0.0.1:9?timeout=9s");
  const auto reloaded = clusters->reload();
  ASSERT_TRUE(reloaded);
  EXPECT_EQ(reloaded->at(0).servers.error().text,
            "timeout differs, but only servers and their weights can change while a client works");
  EXPECT_EQ(nodes_of((*clusters)["cache"]), Names{"127.0.0.1:1"});
  auto from_memory = open_clusters(two_caches);
  EXPECT_EQ(from_memory.reload().error().outcome, Outcome::invalid);
  EXPECT_EQ(from_memory.follow().error().outcome, Outcome::invalid);
}

// Follows the clusters, the first of which changes once. Then get() returns what was added.
std::future<Names> follow_first(Clusters& clusters) {
  const auto added = std::make_shared<std::promise<Names>>();
  EXPECT_TRUE(clusters.follow([added](const Result<std::vector<Reloaded>>& reloaded) {
    if (reloaded && reloaded->at(0).servers->any()) {
      added->set_value(reloaded->at(0).servers->added);
    }
  }));
  return added->get_future();
}

TEST(Clusters, AFileThatIsFollowedIsReadWhenItChanges) {
  const ClusterFile file("memcached://127.0.0.1:1");
  auto clusters = Clusters::open(file.path);
  ASSERT_TRUE(clusters);
  auto added = follow_first(*clusters);
  file.write("memcached://127.0.0.1:1,127.0.0.1:2");
  ASSERT_EQ(added.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(added.get(), Names{"127.0.0.1:2"});
  EXPECT_EQ(nodes_of((*clusters)["cache"]), (Names{"127.0.0.1:1", "127.0.0.1:2"}));
}

// The mounts of a connector's pod, in the environment of this process while it lives.
class Connector {
 public:
  explicit Connector(const std::string& host) {
    write(host);
    ::setenv(variable, folder_.path().c_str(), 1);
  }
  ~Connector() { ::unsetenv(variable); }
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  void write(const std::string& host, const std::string& more = "") const {
    const std::string path = folder_.file("MQTT_CONNECTION_CONFIGURATION");
    std::ofstream(path + ".new") << R"({"host":")" << host << R"(","tls":{"mode":"Disabled"})"
                                 << more << "}";
    std::rename((path + ".new").c_str(), path.c_str());
  }

 private:
  static constexpr auto variable = "CONNECTOR_CONFIGURATION_MOUNT_PATH";
  const test::TemporaryFolder folder_;
};

TEST(Clusters, ABrokerThatIsMountedInAPodIsFollowedWhenItChanges) {
  const Connector pod("127.0.0.1:1");
  auto clusters = Clusters::open_environment();
  ASSERT_TRUE(clusters) << clusters.error().message();
  EXPECT_EQ(clusters->names(), Names{"environment"});
  EXPECT_EQ(nodes_of((*clusters)["environment"]), Names{"127.0.0.1:1"});
  auto added = follow_first(*clusters);
  pod.write("127.0.0.1:2");
  ASSERT_EQ(added.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(added.get(), Names{"127.0.0.1:2"});
  EXPECT_EQ(nodes_of((*clusters)["environment"]), Names{"127.0.0.1:2"});
}

TEST(Clusters, AMountedFileThatCannotBeTakenChangesNothing) {
  const Connector pod("127.0.0.1:1");
  auto clusters = Clusters::open_environment();
  ASSERT_TRUE(clusters) << clusters.error().message();
  pod.write("127.0.0.1");
  EXPECT_EQ(clusters->reload().error().text,
            R"(MQTT_CONNECTION_CONFIGURATION.host is "127.0.0.1", not HOST:PORT)");
  pod.write("127.0.0.1:2", R"(,"keepAliveSeconds":7)");
  const auto reloaded = clusters->reload();
  ASSERT_TRUE(reloaded) << reloaded.error().message();
  EXPECT_EQ(reloaded->at(0).servers.error().text,
            "keep_alive differs, but only servers and their weights can change while a client "
            "works");
  EXPECT_EQ(nodes_of((*clusters)["environment"]), Names{"127.0.0.1:1"});
}

TEST(Clusters, AnEnvironmentWithoutMountsCannotChange) {
  EXPECT_EQ(Clusters::open_environment().error().reason, Reason::bad_configuration);
  ::setenv("AIO_BROKER_HOSTNAME", "127.0.0.1", 1);
  auto clusters = Clusters::open_environment();
  ::unsetenv("AIO_BROKER_HOSTNAME");
  ASSERT_TRUE(clusters) << clusters.error().message();
  EXPECT_TRUE(clusters->follow());
  EXPECT_EQ(nodes_of((*clusters)["environment"]), Names{"127.0.0.1:8883"});
}

TEST(Reconfigure, IsRefusedWhereTheConfigurationDoesNotDecide) {
  Client engines = test::open("embedded://2");
  EXPECT_EQ(engines.reconfigure(engines.config()).error().outcome, Outcome::unsupported);
  Client cluster = test::open("redis://127.0.0.1:1");
  EXPECT_EQ(cluster.reconfigure(cluster.config()).error().outcome, Outcome::unsupported);
  Client alone = test::open("redis://127.0.0.1:1?routing=ring");
  EXPECT_FALSE(alone.reconfigure(alone.config())->any());
  Client moved_to = std::move(alone);
  EXPECT_EQ(alone.reconfigure(moved_to.config()).error().outcome, Outcome::shutdown);
}

TEST(Clusters, EmbeddedClustersWithoutANameShareNoEngines) {
  const Clusters clusters = open_clusters(two_caches);
  ASSERT_TRUE(clusters["sessions"].set("k", "of sessions"));
  EXPECT_FALSE(clusters["prices"].get("k").value());
  Client stranger = test::open("embedded://1");
  EXPECT_FALSE(stranger.get("k").value());
}

TEST(Clusters, ClustersThatNameTheSameEnginesShareThem) {
  const Clusters clusters = open_clusters(
      R"({"clusters":{"a":{"servers":"embedded://1?name=same"},
                      "b":{"servers":"embedded://1?name=same"}}})");
  ASSERT_TRUE(clusters["a"].set("k", "v"));
  EXPECT_TRUE(clusters["b"].get("k").value());
}

TEST(Clusters, ANameThatThereIsNotIsRefusedByEveryCallWithTheNamesThatThereAre) {
  const Clusters clusters = open_clusters(two_caches);
  EXPECT_EQ(clusters.find("session"), nullptr);
  Client& missing = clusters["session"];
  const auto got = missing.get("k");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().outcome, Outcome::invalid);
  EXPECT_EQ(got.error().reason, Reason::bad_argument);
  EXPECT_EQ(got.error().text,
            R"(there is no cluster of this name; the configuration has "sessions", "prices")");
  EXPECT_EQ(missing.set("k", "v").error().outcome, Outcome::invalid);
  EXPECT_EQ(missing.async().get("k").future().get().error().outcome, Outcome::invalid);
  const std::string_view keys[] = {"a", "b"};
  for (const auto& [key, result] : missing.get_many(keys)) {
    EXPECT_EQ(result.error().outcome, Outcome::invalid);
  }
}

TEST(Clusters, EitherAllAreOpenedOrNoneAndTheTextNamesTheCluster) {
  Clusters::Configs configs = parse(two_caches);
  configs[1].second.pool_max = 0;
  const auto clusters = Clusters::open(std::move(configs));
  ASSERT_FALSE(clusters);
  EXPECT_EQ(clusters.error().reason, Reason::bad_configuration);
  EXPECT_EQ(clusters.error().text.substr(0, 17), "clusters.prices: ") << clusters.error().text;
}

TEST(Clusters, NamesMustBeThereAndDiffer) {
  EXPECT_EQ(Clusters::open(Clusters::Configs{}).error().text, "the configuration has no cluster");
  const ClusterConfig one = ClusterConfig::parse_uri("embedded://1").value();
  EXPECT_EQ(Clusters::open({{"", one}}).error().text, "the name of a cluster is empty");
  EXPECT_EQ(Clusters::open({{"a", one}, {"b", one}, {"a", one}}).error().text,
            "clusters.a is given twice");
  const auto missing = Clusters::open(testing::TempDir() + "sheaf_no_such_file.json");
  EXPECT_EQ(missing.error().reason, Reason::bad_configuration);
}

TEST(Clusters, EachMayHaveOptionsOfItsOwn) {
  std::vector<std::string> asked;
  const auto options = [&](std::string_view name) {
    asked.emplace_back(name);
    return ClientOptions{};
  };
  ASSERT_TRUE(Clusters::open(parse(two_caches), options));
  EXPECT_EQ(asked, (std::vector<std::string>{"sessions", "prices"}));
}

TEST(Clusters, AreClosedInReverseOrderAndEachCompletesItsCallbacks) {
  const test::DeafServer server;
  ClusterConfig config = ClusterConfig::parse_uri("mqtt://" + server.address()).value();
  config.timeout = config.connect_timeout = 60s;
  std::mutex mutex;
  std::vector<std::string> ended;
  {
    auto clusters = Clusters::open({{"first", config}, {"second", config}, {"third", config}});
    ASSERT_TRUE(clusters) << clusters.error().message();
    for (const std::string& name : clusters->names()) {
      (*clusters)[name].async().get("k").then([&, name](Result<GetResult> got) {
        EXPECT_FALSE(got);
        const std::lock_guard lock(mutex);
        ended.push_back(name);
      });
    }
  }
  EXPECT_EQ(ended, (std::vector<std::string>{"third", "second", "first"}));
}

TEST(Clusters, MovingKeepsTheClientsWhereTheyAre) {
  Clusters clusters = open_clusters(two_caches);
  Client* const sessions = clusters.find("sessions");
  const Clusters moved = std::move(clusters);
  EXPECT_EQ(moved.find("sessions"), sessions);
  EXPECT_EQ(clusters.size(), 0u);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(clusters.find("sessions"), nullptr);
  EXPECT_EQ(clusters["sessions"].get("k").error().outcome, Outcome::shutdown);
}

void expect_moved_from(const Error& error) {
  EXPECT_EQ(error.outcome, Outcome::shutdown) << error.message();
  EXPECT_EQ(error.reason, Reason::closed) << error.message();
  EXPECT_EQ(error.text, "the client was moved from");
}

TEST(MovedFromClient, EveryCallSaysSo) {
  Client client = test::open("embedded://1?name=moved-from");
  Client moved = std::move(client);
  // NOLINTBEGIN(bugprone-use-after-move)
  expect_moved_from(client.get("k").error());
  expect_moved_from(client.set("k", "v").error());
  expect_moved_from(client.remove("k").error());
  expect_moved_from(client.get_or_compute("k", {}, [] { return "v"; }).error());
  const std::string_view keys[] = {"a"};
  expect_moved_from(client.get_many(keys).front().result.error());
  expect_moved_from(client.watch("k").error());
  expect_moved_from(client.async().get("k").future().get().error());
  std::optional<Error> async_error;
  client.async().set("k", "v").then([&](Result<SetResult> set) { async_error = set.error(); });
  ASSERT_TRUE(async_error);
  expect_moved_from(*async_error);
  EXPECT_EQ(client.stats().size(), 1u);
  EXPECT_FALSE(client.check_nodes({.timeout = 1s}).empty());
  EXPECT_TRUE(client.locate("k"));
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(moved.set("k", "v"));
  client = std::move(moved);
  EXPECT_EQ(client.get("k").value()->data, "v");
}

}  // namespace
}  // namespace sheaf
