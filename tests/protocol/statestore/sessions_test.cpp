// The sessions of a cluster. The connections to one server share its clock, but only while the
// server is a member.

#include "protocol/statestore/sessions.h"

#include <gtest/gtest.h>

namespace sheaf::protocol::statestore {
namespace {

TEST(StoreSessions, AnyNodeMayComeAtAnyTimeAndGo) {
  ClusterConfig config;
  config.nodes = {{.host = "one"}};
  StoreSessions sessions(config, Random(1).fork());
  const Now now{std::chrono::seconds(1'000), std::chrono::milliseconds(1'700'000'000'000)};
  sessions.forget(5);
  auto late = sessions.make(5, SessionUse::requests, now);
  auto again = sessions.make(5, SessionUse::requests, now);
  ASSERT_NE(late, nullptr);
  late.reset();
  again.reset();
  sessions.forget(5);
  EXPECT_NE(sessions.make(5, SessionUse::requests, now), nullptr);
}

}  // namespace
}  // namespace sheaf::protocol::statestore
