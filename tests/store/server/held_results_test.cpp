// A host whose results wait until they are saved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/server/host_client.h"

namespace sheaf::store::server::test {
namespace {

HostOptions holding() {
  HostOptions options;
  options.session.hold_results = true;
  return options;
}

TEST(HeldResults, HeldResultsWaitForTheirReleaseAndControlPacketsDoNot) {
  Host host(holding());
  HostClient client(host, "client");
  EXPECT_EQ(client.control.size(), 0u);
  client.request({"SET", "key", "a"}, "1");
  EXPECT_TRUE(client.read().empty());
  EXPECT_THAT(client.control, testing::SizeIs(2)) << "CONNACK and PUBACK";
  host.seal();
  client.request({"SET", "key", "b"}, "2");
  host.release_sealed();
  EXPECT_THAT(client.read(), testing::SizeIs(1));
  host.release_all();
  while (host.poll_ready() != nullptr) {
  }
  EXPECT_THAT(client.read(), testing::SizeIs(1));
  EXPECT_EQ(host.poll_ready(), nullptr);
}

TEST(HeldResults, AReleaseMakesConnectionsReady) {
  Host host(holding());
  HostClient client(host, "client");
  client.read();
  while (host.poll_ready() != nullptr) {
  }
  client.request({"GET", "key"}, "1");
  client.read();  // PUBACK
  while (host.poll_ready() != nullptr) {
  }
  host.release_all();
  EXPECT_EQ(host.poll_ready(), &client.connection());
  EXPECT_THAT(client.read(), testing::SizeIs(1));
}

// A connection that was taken over gets its last results, but not those that are abandoned.
TEST(HeldResults, AbandonedResultsReachNoConnectionThatIsEnding) {
  for (const bool abandoned : {false, true}) {
    Host host(holding());
    HostClient old(host, "client");
    old.request({"SET", "key", "v"}, "1");
    const HostClient other(host, "client");
    EXPECT_TRUE(old.read().empty());
    EXPECT_FALSE(old.connection().closed());
    if (abandoned) host.abandon("the file cannot be written");
    host.release_all();
    EXPECT_THAT(old.read(), testing::SizeIs(abandoned ? 0 : 1));
    EXPECT_TRUE(old.connection().closed());
  }
}

TEST(HeldResults, AHeldConnectionMayEnd) {
  Host host(holding());
  HostClient client(host, "client");
  client.request({"SET", "key", "v"}, "1");
  host.seal();
  client.close();
  host.release(client.connection());
  host.release_sealed();
  host.release_all();
  EXPECT_EQ(host.poll_ready(), nullptr);
}

}  // namespace
}  // namespace sheaf::store::server::test
