#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sheaf/cluster_config.h>

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::HasSubstr;
using testing::Not;
using NamedClusters = std::vector<std::pair<std::string, ClusterConfig>>;

NamedClusters good(std::string_view text) {
  auto clusters = ClusterConfig::parse_json(text);
  EXPECT_TRUE(clusters.has_value()) << text << ": " << clusters.error().message();
  return clusters.has_value() ? *clusters : NamedClusters{{"none", {}}};
}

std::string refusal_of_json(std::string_view text) {
  const auto clusters = ClusterConfig::parse_json(text);
  EXPECT_FALSE(clusters.has_value()) << text;
  if (clusters.has_value()) return {};
  EXPECT_EQ(clusters.error().reason, Reason::bad_configuration) << text;
  EXPECT_EQ(clusters.error().outcome, Outcome::invalid) << text;
  return clusters.error().text;
}

// A document with one cluster, "main".
std::string cluster(const std::string& fields) {
  return R"({"clusters":{"main":{)" + fields + "}}}";
}
std::string listed(const std::string& servers) {
  return cluster(R"("kind":"mqtt","servers":[)" + servers + "]");
}

// A file that is removed at the end of the test.
class TempFile {
 public:
  explicit TempFile(const std::string& text) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "sheaf_" + info->name() + ".json";
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ConfigJson, ReadsAUriAndOptionsBesideIt) {
  const auto config = good(cluster(R"("servers":"mqtt://b1*2,b2:7","timeout":"250ms",
                                      "pool_max":3,"spin":false,"locator":"ring")"))[0]
                          .second;
  ASSERT_EQ(config.nodes.size(), 2u);
  EXPECT_EQ(config.nodes[0].weight, 2u);
  EXPECT_EQ(config.nodes[1].identity(), "b2:7");
  EXPECT_EQ(config.timeout, 250ms);
  EXPECT_EQ(config.pool_max, 3u);
  EXPECT_FALSE(config.spin);
  EXPECT_EQ(config.locator, LocatorKind::ring);
}

TEST(ConfigJson, ReadsAListOfServers) {
  const auto config = good(listed(R"({"host":"b1","port":7,"weight":2},{"host":"::1"})"))[0].second;
  ASSERT_EQ(config.nodes.size(), 2u);
  EXPECT_EQ(config.nodes[0].identity(), "b1:7");
  EXPECT_EQ(config.nodes[0].weight, 2u);
  EXPECT_EQ(config.nodes[1].identity(), "[::1]:1883");
  EXPECT_EQ(config.nodes[1].weight, 1u);
}

TEST(ConfigJson, KeepsTheOrderOfTheDocument) {
  const auto clusters = good(R"({"clusters":{"z":{"servers":"mqtt://z"},
      "a":{"servers":"mqtt://a"},"m.1-x_":{"servers":"embedded://2"}}})");
  ASSERT_EQ(clusters.size(), 3u);
  EXPECT_EQ(clusters[0].first, "z");
  EXPECT_EQ(clusters[1].first, "a");
  EXPECT_EQ(clusters[2].first, "m.1-x_");
  EXPECT_EQ(clusters[2].second.nodes.size(), 2u);
}

TEST(ConfigJson, HandsEngineOptionsOnAsText) {
  const auto config = good(cluster(R"("servers":"embedded://1?spelling=page","max_keys":10,
                                      "fence_retention":"1h","name":"x")"))[0]
                          .second;
  EXPECT_EQ(config.engine_options,
            (std::vector<std::pair<std::string, std::string>>{
                {"spelling", "page"}, {"max_keys", "10"}, {"fence_retention", "1h"}}));
  EXPECT_EQ(config.embedded_name, "x");
}

TEST(ConfigJson, TakesUserAndPasswordAsTheyStand) {
  const auto config = good(cluster(R"("servers":"mqtt://localhost","user":"u%41",
                                      "password":"p@:%\u0000\"")"))[0]
                          .second;
  EXPECT_EQ(config.user, "u%41");
  EXPECT_EQ(config.password, "p@:%\0\""s);
}

TEST(ConfigJson, NamesThePathOfAnUnknownField) {
  EXPECT_EQ(refusal_of_json(R"({"clusters":{"m":{"servers":"mqtt://b"}},"extra":1})"),
            "extra is not a field of the configuration");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","colour":1)")),
            "clusters.main.colour is not a field of a cluster");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":"a"},{"host":"b","weigth":1})")),
            "clusters.main.servers[1].weigth is not a field of a server. Did you mean weight?");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","a b\n":1)")),
            "clusters.main.\"a b\\x0A\" is not a field of a cluster");
}

TEST(ConfigJson, RefusesAFieldGivenTwice) {
  EXPECT_EQ(refusal_of_json(R"({"clusters":{},"clusters":{}})"), "clusters is given twice");
  EXPECT_EQ(refusal_of_json(R"({"clusters":{"m":{"servers":"mqtt://b"},"m":{}}})"),
            "clusters.m is given twice");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","timeout":"1s","timeout":"1s")")),
            "clusters.main.timeout is given twice");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":"a"},{"host":"b","port":1,"port":2})")),
            "clusters.main.servers[1].port is given twice");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":"a"},[[{"x":1}],{"x":1,"x":2}])")),
            "clusters.main.servers[1][1].x is given twice");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b?timeout=1s","timeout":"1s")")),
            "clusters.main.timeout is given twice");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://u@b","user":"u")")),
            "clusters.main.user is given twice");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://u:p@localhost","password":"p")")),
            "clusters.main.password is given twice");
}

TEST(ConfigJson, RefusesAWrongShapeWithItsPath) {
  EXPECT_EQ(refusal_of_json("[]"), "the configuration must be a JSON object");
  EXPECT_EQ(refusal_of_json("3"), "the configuration must be a JSON object");
  EXPECT_EQ(refusal_of_json("{}"), "clusters is missing");
  EXPECT_EQ(refusal_of_json(R"({"clusters":[]})"), "clusters must be an object of named clusters");
  EXPECT_EQ(refusal_of_json(R"({"clusters":{}})"), "clusters names no cluster");
  EXPECT_EQ(refusal_of_json(R"({"clusters":{"m":3}})"), "clusters.m must be an object");
  EXPECT_THAT(refusal_of_json(R"({"clusters":{"a b":{"servers":"mqtt://b"}}})"),
              HasSubstr("clusters.\"a b\" is not a name of 1 to 64"));
  EXPECT_EQ(refusal_of_json(cluster("")), "clusters.main.servers is missing");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":3)")),
            "clusters.main.servers must be a URI or a list of servers");
  EXPECT_EQ(refusal_of_json(listed("3")),
            "clusters.main.servers[0] must be an object with host, port and weight");
  EXPECT_EQ(refusal_of_json(listed("")), "clusters.main: there is no server");
  EXPECT_EQ(refusal_of_json(listed("{}")), "clusters.main.servers[0].host is missing");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":3})")),
            "clusters.main.servers[0].host must be a JSON string");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","timeout":null)")),
            "clusters.main.timeout must be a string, a number or a boolean");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","timeout":3)")),
            "clusters.main.timeout must be a JSON string: a duration from 1ms to 24h");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","pool_max":"3")")),
            "clusters.main.pool_max must be a JSON number: an integer from 1 to 64");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","pool_max":1e3)")),
            "clusters.main.pool_max is \"1000.0\", not an integer from 1 to 64");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","user":3)")),
            "clusters.main.user must be a JSON string");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","name":"x")")),
            "clusters.main.name is for embedded:// only");
}

TEST(ConfigJson, RefusesPortsAndWeightsOutOfRange) {
  for (const auto* value : {"0", "65536", "-1", "1.5", "\"1\"", "null", "1e99"}) {
    EXPECT_EQ(refusal_of_json(listed(R"({"host":"b","port":)"s + value + "}")),
              "clusters.main.servers[0].port must be an integer from 1 to 65535");
    EXPECT_EQ(refusal_of_json(listed(R"({"host":"b","weight":)"s + value + "}")),
              "clusters.main.servers[0].weight must be an integer from 1 to 65535");
  }
}

TEST(ConfigJson, SaysWhereAUriOrServerIsWrong) {
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b1,b2:x")")),
            "clusters.main.servers: server 2: the port is not an integer from 1 to 65535");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":"b"},{"host":"B"})")),
            "clusters.main.servers[1]: B:1883 is given twice");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":"[::1]"})")),
            "clusters.main.servers[0]: the text in brackets is not an IPv6 address");
  EXPECT_EQ(refusal_of_json(listed(R"({"host":""})")),
            "clusters.main.servers[0]: the host is empty");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":"mqtt://b","pool_min":2)")),
            "clusters.main: option pool_max is 1, below pool_min, which is 2");
}

TEST(ConfigJson, WantsTheKindBesideAListOnly) {
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":[{"host":"b"}])")),
            "clusters.main.kind is missing next to a list of servers");
  EXPECT_EQ(refusal_of_json(cluster(R"("kind":"mqtt","servers":"mqtt://b")")),
            "clusters.main.kind is allowed only next to a list of servers");
  EXPECT_EQ(refusal_of_json(cluster(R"("kind":1,"servers":[])")),
            "clusters.main.kind must be a JSON string");
  EXPECT_EQ(refusal_of_json(cluster(R"("kind":"http","servers":[])")),
            "clusters.main.kind: the scheme is not mqtt, memcached, embedded or redis, or with TLS "
            "mqtts, memcacheds or rediss");
  EXPECT_EQ(refusal_of_json(cluster(R"("kind":"embedded","servers":[])")),
            "clusters.main.kind is embedded, which has no list of servers: write \"servers\": "
            "\"embedded://N\"");
}

TEST(ConfigJson, ReportsLineAndColumnOfASyntaxError) {
  EXPECT_EQ(refusal_of_json(""), "line 1, column 1: this is not JSON");
  EXPECT_EQ(refusal_of_json("{\n  \"clusters\" 3}"), "line 2, column 14: this is not JSON");
  EXPECT_THAT(refusal_of_json("{\"clusters\":{}} x"), HasSubstr("line 1, column 17"));
  EXPECT_THAT(refusal_of_json("{\"clusters\":\"\xff\"}"), HasSubstr("this is not JSON"));
  EXPECT_THAT(refusal_of_json("{\"clusters\":{},}"), HasSubstr("this is not JSON"));
  EXPECT_THAT(refusal_of_json("{\"a\":1e999}"), HasSubstr("this is not JSON"));
}

TEST(ConfigJson, BoundsDepthSizeAndNumberOfClusters) {
  EXPECT_EQ(refusal_of_json(std::string(100'000, '[')),
            "[0][0][0][0][0][0][0][0] is nested deeper than "
            "8 levels");
  EXPECT_EQ(refusal_of_json(cluster(R"("servers":[[[[[[1]]]]]])")),
            "clusters.main.servers[0][0][0][0][0] is nested deeper than 8 levels");
  EXPECT_EQ(refusal_of_json(std::string((1 << 20) + 1, ' ')),
            "the configuration is longer than 1 MiB");
  std::string many;
  for (int i = 0; i < 257; ++i) {
    many += (i == 0 ? "" : ",") + ("\"c" + std::to_string(i)) + R"(":{"servers":"mqtt://b"})";
  }
  EXPECT_EQ(refusal_of_json(R"({"clusters":{)" + many + "}}"),
            "clusters names more than 256 clusters");
}

TEST(ConfigJson, EveryPrefixOfADocumentIsRefusedCleanly) {
  const std::string text = listed(R"({"host":"b1","port":7,"weight":2})");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(refusal_of_json(text.substr(0, size)), HasSubstr("this is not JSON")) << size;
  }
}

TEST(ConfigJson, NeverRepeatsAPassword) {
  for (const auto& text : {cluster(R"("servers":"mqtt://b1","password":"hunter2")"),
                           cluster(R"("servers":"mqtt://u:hunter2@b1")"),
                           cluster(R"("servers":"mqtt://localhost","password":["hunter2"])"),
                           cluster(R"("servers":"mqtt://localhost","password":"hunter2)"),
                           cluster(R"("servers":"mqtt://localhost","password":hunter2)"),
                           cluster(R"("servers":"embedded://1","password":"hunter2")"),
                           cluster(R"("servers":"mqtt://u:hunter2","user":"u")")}) {
    const auto clusters = ClusterConfig::parse_json(text);
    ASSERT_FALSE(clusters.has_value()) << text;
    EXPECT_THAT(clusters.error().message(), Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(ConfigFile, IsReadAsADocument) {
  const TempFile file(cluster(R"("servers":"mqtt://b1")"));
  const auto clusters = ClusterConfig::load_file(file.path());
  ASSERT_TRUE(clusters.has_value()) << clusters.error().message();
  EXPECT_EQ(clusters->at(0).second.nodes.at(0).identity(), "b1:1883");
}

TEST(ConfigFile, IsNamedInEverySentence) {
  const TempFile wrong(cluster(R"("servers":3)"));
  const auto clusters = ClusterConfig::load_file(wrong.path());
  ASSERT_FALSE(clusters.has_value());
  EXPECT_EQ(clusters.error().text,
            wrong.path() + ": clusters.main.servers must be a URI or a list of servers");
  const auto missing = ClusterConfig::load_file(wrong.path() + ".not-there");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().text, wrong.path() + ".not-there: No such file or directory");
  EXPECT_EQ(missing.error().reason, Reason::bad_configuration);
  const auto folder = ClusterConfig::load_file(testing::TempDir());
  ASSERT_FALSE(folder.has_value());
  EXPECT_THAT(folder.error().text, HasSubstr("Is a directory"));
}

TEST(ConfigFile, IsNotReadBeyondOneMebibyte) {
  const TempFile file(cluster(R"("servers":"mqtt://b1")") + std::string(1 << 20, ' '));
  const auto clusters = ClusterConfig::load_file(file.path());
  ASSERT_FALSE(clusters.has_value());
  EXPECT_THAT(clusters.error().text, HasSubstr("the configuration is longer than 1 MiB"));
}

TEST(ConfigDocumentation, TheExampleIsAccepted) {
  const std::filesystem::path docs = SHEAF_TEST_DOCS;
  std::ifstream file(docs / "configuration.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const std::size_t start = text.find("```json\n");
  ASSERT_NE(start, text.npos);
  const std::size_t end = text.find("```", start + 8);
  const auto clusters = good(text.substr(start + 8, end - start - 8));
  ASSERT_EQ(clusters.size(), 3u);
  EXPECT_EQ(clusters[1].second.nodes[1].identity(), "[fe80::17%eth0]:1883");
}

}  // namespace
}  // namespace sheaf
