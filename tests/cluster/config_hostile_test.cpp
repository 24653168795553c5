// Damaged configurations: any bytes give either a clean configuration or one clean sentence.

#include <gtest/gtest.h>

#include <string>

#include <sheaf/cluster_config.h>

#include "base/random.h"
#include "cluster/config/config_check.h"

namespace sheaf {
namespace {

const std::vector<std::string>& uris() {
  static const std::vector<std::string> seeds{
      "mqtt://user:p%40ss@127.0.0.1:1883*2,[::1]:1884?timeout=250ms&pool_max=4&spin=0",
      "mqtt://b1*65535,b2:1,b3?locator=ring&slots=1024&default_ttl=2h&client_id=a.b",
      "embedded://3?name=x&max_keys=10&spelling=page"};
  return seeds;
}

const std::vector<std::string>& documents() {
  static const std::vector<std::string> seeds{
      R"({"clusters":{"a":{"servers":"mqtt://b1*2,b2","timeout":"3s","pool_max":2,"spin":true}}})",
      R"({"clusters":{"a":{"kind":"mqtt","servers":[{"host":"b","port":1,"weight":2},
                                                    {"host":"::1"}],
                           "user":"u","password":"p\u0000","allow_plain_password":true},
                      "b":{"servers":"embedded://2"}}})"};
  return seeds;
}

// Replaces, drops, doubles or moves some bytes.
std::string damaged(std::string text, Random& random) {
  for (std::uint64_t n = 1 + random.below(4); n > 0 && !text.empty(); --n) {
    const std::size_t at = random.below(text.size());
    const std::size_t size = 1 + random.below(text.size() - at);
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.u32());
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text.substr(at, size));
        break;
      default:
        text.insert(random.below(text.size()), 1, "@:/?#[]{},*&=%\"\\0"[random.below(18)]);
    }
  }
  return text;
}

void expect_clean_sentence(const Error& error, const std::string& input) {
  const std::string sentence = error.message();
  EXPECT_EQ(error.reason, Reason::bad_configuration) << input;
  EXPECT_LT(sentence.size(), 700u) << input;
  for (const char c : sentence) ASSERT_TRUE(c >= ' ' && c <= '~') << input;
}

TEST(HostileConfig, DamagedUrisGiveACheckedConfigurationOrASentence) {
  Random random(1);
  int accepted = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::string uri = damaged(uris()[static_cast<std::size_t>(i) % 3], random);
    const auto config = ClusterConfig::parse_uri(uri);
    if (config) {
      ++accepted;
      EXPECT_FALSE(cluster::check_config(*config)) << uri;
    } else {
      expect_clean_sentence(config.error(), uri);
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 29'000);
}

TEST(HostileConfig, DamagedDocumentsGiveCheckedConfigurationsOrASentence) {
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::string text = damaged(documents()[static_cast<std::size_t>(i) % 2], random);
    const auto clusters = ClusterConfig::parse_json(text);
    if (!clusters) {
      expect_clean_sentence(clusters.error(), text);
      continue;
    }
    ++accepted;
    for (const auto& [name, config] : *clusters)
      EXPECT_FALSE(cluster::check_config(config)) << text;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 29'000);
}

}  // namespace
}  // namespace sheaf
