#include "protocol/address_map.h"

#include <gtest/gtest.h>

namespace sheaf::protocol {
namespace {

std::string reached(std::string_view map, std::string_view host, std::uint16_t port) {
  const auto parsed = AddressMap::parse(map);
  if (!parsed) return parsed.error();
  const auto found = parsed->find(host, port);
  return found ? found->identity() : "";
}

TEST(AddressMap, APairWithAPortGoesBeforeOneForTheWholeHost) {
  const std::string_view map = "10.0.0.5=gate.example,10.0.0.5:7001=gate.example:17001";
  EXPECT_EQ(reached(map, "10.0.0.5", 7000), "gate.example:7000");
  EXPECT_EQ(reached(map, "10.0.0.5", 7001), "gate.example:17001");
  EXPECT_EQ(reached(map, "10.0.0.6", 7001), "");
  EXPECT_EQ(reached("10.0.0.5:7000=gate.example", "10.0.0.5", 7000), "gate.example:7000");
  EXPECT_EQ(reached("10.0.0.5:7000=gate.example", "10.0.0.5", 7001), "");
  EXPECT_EQ(reached("", "10.0.0.5", 7001), "");
}

TEST(AddressMap, NamesAreTheSameInAnyCaseAndIpv6HasBrackets) {
  EXPECT_EQ(reached("Node-1.Example=[fd00::1]", "node-1.example", 6379), "[fd00::1]:6379");
  EXPECT_EQ(reached("[fd00::2]:7=b:8,[FD00::3]=c", "fd00::2", 7), "b:8");
  EXPECT_EQ(reached("[fd00::2]:7=b:8,[FD00::3]=c", "fd00::3", 9), "c:9");
}

TEST(AddressMap, APairThatIsWrongIsNamed) {
  const std::string form = " is not HOST[:PORT]=HOST[:PORT]";
  for (const std::string pair :
       {"a", "a=", "=b", "a=b=c", "a:0=b", "a:1=b:65536", "a:x=b", "fd00::1=b", "[fd00::1=b",
        "[a]=b", "[fd00::1]7=b", "a b=c", "300.1.1.1=b"}) {
    EXPECT_EQ(reached("x=y," + pair, "x", 1), pair + form);
  }
  EXPECT_EQ(reached("a=b,,c=d", "x", 1), form) << "an empty pair";
  EXPECT_EQ(reached("a=b:7", "a", 1), "a=b:7 leads every port of a host to one port");
  EXPECT_EQ(reached("a:1=b,A:1=c", "a", 1), "A:1=c names an address for the second time");
}

TEST(AddressMap, TheHostsThatItLeadsToAreListed) {
  const auto map = AddressMap::parse("a=b,c:1=d:2");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->reachable().size(), 2u);
  EXPECT_EQ(map->reachable()[0].host, "b");
  EXPECT_EQ(map->reachable()[1].host, "d");
}

}  // namespace
}  // namespace sheaf::protocol
