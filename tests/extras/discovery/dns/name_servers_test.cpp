#include "extras/discovery/dns/name_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sheaf::discovery::dns {
namespace {

using testing::ElementsAre;

TEST(NameServers, AreTheLinesOfTheFile) {
  EXPECT_THAT(read_resolver_file("# nameserver 9.9.9.9\n"
                                 "search example.org\n"
                                 "nameserver 10.0.0.2\n"
                                 "  nameserver\t fd00::2 ; near\r\n"
                                 "nameserver\n"
                                 "nameservers 1.1.1.1\n"
                                 "options timeout:1\n"
                                 "nameserver fe80::1%eth0"),
              ElementsAre(NameServer{"10.0.0.2", 53}, NameServer{"fd00::2", 53},
                          NameServer{"fe80::1%eth0", 53}));
}

TEST(NameServers, ThreeOfTheFileAreAsked) {
  EXPECT_THAT(read_resolver_file("nameserver a\nnameserver b\nnameserver c\nnameserver d\n"),
              ElementsAre(NameServer{"a", 53}, NameServer{"b", 53}, NameServer{"c", 53}));
}

TEST(NameServers, WithoutAnyTheOneOfThisMachineIsAsked) {
  EXPECT_THAT(read_resolver_file(""), ElementsAre(NameServer{"127.0.0.1", 53}));
  EXPECT_THAT(read_resolver_file("search x\n\n"), ElementsAre(NameServer{"127.0.0.1", 53}));
}

TEST(NameServers, OfAProgramMayHaveAPort) {
  EXPECT_EQ(read_name_server("10.0.0.2"), (NameServer{"10.0.0.2", 53}));
  EXPECT_EQ(read_name_server("10.0.0.2:5353"), (NameServer{"10.0.0.2", 5353}));
  EXPECT_EQ(read_name_server("fd00::2"), (NameServer{"fd00::2", 53}));
  EXPECT_EQ(read_name_server("[fd00::2]"), (NameServer{"fd00::2", 53}));
  EXPECT_EQ(read_name_server("[fd00::2]:65535"), (NameServer{"fd00::2", 65'535}));
  for (const char* bad : {"", ":53", "[]:53", "[::1", "[::1]53", "1.2.3.4:", "1.2.3.4:0",
                          "1.2.3.4:65536", "1.2.3.4:5x"}) {
    EXPECT_EQ(read_name_server(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace sheaf::discovery::dns
