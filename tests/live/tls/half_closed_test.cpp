// Connections of which something in between closes the half that leads to the server. The server
// ends them by an alert. That is no refusal of the next connection.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/live/tls/real_servers.h"
#include "tests/support/relay.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

class HalfClosed : public testing::TestWithParam<RealKind> {
 protected:
  std::string uri(std::uint16_t port) const {
    return GetParam().scheme + "://127.0.0.1:" + std::to_string(port) +
           "?connect_timeout=10s&timeout=30s" + GetParam().alone + "&" + all.options();
  }
  const Credentials& all = Credentials::shared();
  const RealServer server = GetParam().start({.paths = &all.server()});
  Relay relay{server.port};
};

INSTANTIATE_TEST_SUITE_P(All, HalfClosed, testing::ValuesIn(real_kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(HalfClosed, CallsGoOnOnAnotherConnection) {
  auto client = Client::open(uri(relay.port())).value();
  ASSERT_TRUE(client.set("key", "before"));
  relay.close_half();
  for (;;) {
    const auto got = client.get("key");
    if (got) break;
    ASSERT_NE(got.error().reason, Reason::authentication) << got.error().message();
    ASSERT_NE(got.error().reason, Reason::timed_out) << got.error().message();
  }
}

std::vector<RealKind> kinds_with_watches() {
  auto kinds = real_kinds();
  std::erase_if(kinds, [](const RealKind& kind) { return kind.name == "Memcached"; });
  return kinds;
}

class HalfClosedWatch : public HalfClosed {};

INSTANTIATE_TEST_SUITE_P(All, HalfClosedWatch, testing::ValuesIn(kinds_with_watches()),
                         [](const auto& test) { return test.param.name; });

TEST_P(HalfClosedWatch, GoesOn) {
  auto client = Client::open(uri(relay.port())).value();
  auto direct = Client::open(uri(server.port)).value();
  ASSERT_TRUE(direct.set("key", "before"));
  auto watch = client.watch("key").value();
  ASSERT_EQ(watch.next({.wait = 60s}).value().value().kind, WatchEvent::Kind::current);
  relay.close_half();
  const auto gap = watch.next({.wait = 20s}).value();
  ASSERT_TRUE(gap) << "blind, without an event";
  EXPECT_EQ(gap->kind, WatchEvent::Kind::gap);
  ASSERT_TRUE(direct.set("key", "after"));
  const auto set = watch.next({.wait = 20s}).value();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->kind, WatchEvent::Kind::set);
  EXPECT_EQ(set->value, "after");
}

}  // namespace
}  // namespace sheaf::test
