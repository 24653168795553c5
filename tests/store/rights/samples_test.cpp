// The sample file and the one in the page are valid, and mean what they appear to.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "store/rights/rights.h"

namespace sheaf::store::rights {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(std::string(SHEAF_TEST_SOURCE) + "/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RightsSamples, TheSampleFileGivesWhatItSays) {
  const auto rights = parse_rights(content_of("samples/mosquitto/rights.json"));
  ASSERT_TRUE(rights) << rights.error();
  const Grant press = rights->grant({"press", "any"});
  EXPECT_TRUE(press.allows(Right::write, "line4/speed"));
  EXPECT_TRUE(press.allows(Right::lock, "press7"));
  EXPECT_FALSE(press.allows(Right::write, "press7"));
  EXPECT_EQ(press.quota.bytes, 16u << 20);
  const Grant planner = rights->grant({"planner", "dashboard-1"});
  EXPECT_TRUE(planner.allows(Right::write, "sheaf/list/{jobs}/head"));
  EXPECT_FALSE(planner.allows(Right::write, "line4/speed"));
  const Grant dashboard = rights->grant({"dashboard", "any"});
  EXPECT_TRUE(dashboard.allows(Right::watch, "line4/speed"));
  EXPECT_FALSE(dashboard.allows(Right::read, "line4/torque"));
  EXPECT_TRUE(rights->grant({"operator", "any"}).allows(Right::write, "sheaf/clock/operator-1"));
  EXPECT_TRUE(rights->grant({"operator", "any"}).inspect);
  EXPECT_FALSE(press.inspect);
  const Grant other = rights->grant({"other", "press"});
  EXPECT_TRUE(other.allows(Right::read, "public/motd"));
  EXPECT_FALSE(other.allows(Right::read, "line4/speed"));
  EXPECT_EQ(other.quota.keys, 0u);
}

TEST(RightsSamples, TheFileInThePageIsRight) {
  const std::string page = content_of("docs/rights.md");
  const std::string fence = "```json\n";
  const std::size_t begin = page.find(fence);
  ASSERT_NE(begin, page.npos);
  const std::size_t first = begin + fence.size();
  const auto rights = parse_rights(page.substr(first, page.find("```", first) - first));
  ASSERT_TRUE(rights) << rights.error();
  EXPECT_EQ(rights->grant({"press", "any"}).quota.requests, 500u);
}

}  // namespace
}  // namespace sheaf::store::rights
