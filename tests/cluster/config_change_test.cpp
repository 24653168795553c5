// Changes of a configuration that a running client accepts or refuses.

#include "cluster/config/config_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cluster/config/config_options.h"

namespace sheaf::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ClusterConfig config(const std::string& uri) { return ClusterConfig::parse_uri(uri).value(); }

TEST(ConfigChange, ServersMayChangeAndNothingElse) {
  const ClusterConfig now = config("memcached://a,b*2?timeout=2s");
  EXPECT_EQ(fixed_difference(now, now), std::nullopt);
  EXPECT_EQ(fixed_difference(now, config("memcached://c*9?timeout=2s")), std::nullopt);
  EXPECT_THAT(fixed_difference(now, config("memcached://a,b*2")).value(), HasSubstr("timeout"));
  EXPECT_THAT(fixed_difference(now, config("redis://a,b?timeout=2s")).value(),
              HasSubstr("the kind of servers differs"));
  EXPECT_THAT(fixed_difference(now, config("memcacheds://a?timeout=2s")).value(),
              HasSubstr("TLS differs"));
}

TEST(ConfigChange, EveryOptionThatHasAnotherValueIsNamed) {
  for (const Option& option : option_table()) {
    if (option.judged_by_engine()) continue;
    ClusterConfig now;
    ClusterConfig wanted;
    std::string value(option.choices.substr(option.choices.rfind('|') + 1));
    if (option.type == OptionType::boolean) value = option.fallback == "true" ? "false" : "true";
    if (option.type == OptionType::integer) value = std::to_string(option.high);
    if (option.type == OptionType::power_of_two) value = std::to_string(option.low);
    if (option.type == OptionType::size) value = std::to_string(option.low);
    if (option.type == OptionType::duration) value = "7777ms";
    if (option.type == OptionType::pairs) value = "one=other";
    if (value.empty()) value = "other";
    if (option.fallback == value)
      value = std::string(option.choices.substr(0, option.choices.find('|')));
    ASSERT_TRUE(set_option(wanted, option, value, Written::uri)) << option.name << " " << value;
    const auto difference = fixed_difference(now, wanted);
    ASSERT_TRUE(difference) << option.name;
    const std::string name = option.name == "ring" ? "locator" : std::string(option.name);
    EXPECT_TRUE(difference->starts_with(name + " differs")) << *difference;
  }
}

TEST(ConfigChange, APasswordIsNobodysBusinessAndTheUserIs) {
  const ClusterConfig now = config("redis://ann:one@127.0.0.1");
  EXPECT_EQ(fixed_difference(now, config("redis://ann:two@127.0.0.1")), std::nullopt);
  EXPECT_THAT(fixed_difference(now, config("redis://bob:one@127.0.0.1")).value(),
              HasSubstr("the user differs"));
}

TEST(ConfigChange, ServersAreComparedByIdentityAndWeight) {
  const auto servers = [](const char* uri) { return config(uri).nodes; };
  const auto changes =
      changes_of(servers("memcached://a,b,c*2,d"), servers("memcached://e,c*3,b,a:1"));
  EXPECT_THAT(changes.added, ElementsAre("e:11211", "a:1"));
  EXPECT_THAT(changes.removed, ElementsAre("a:11211", "d:11211"));
  EXPECT_THAT(changes.reweighted, ElementsAre("c:11211"));
  EXPECT_EQ(changes_of(servers("memcached://a,b"), servers("memcached://b,a")), ServerChanges());
}

}  // namespace
}  // namespace sheaf::cluster
