#include "node/last_failure.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

TEST(LastFailure, AConnectionThatIsReadyRefutesWhatWasRefusedBefore) {
  LastFailure failure;
  failure.note({.reason = Reason::authentication, .text = "WRONGPASS", .not_understood = true});
  EXPECT_EQ(failure.reason(), Reason::authentication);
  failure.clear();
  EXPECT_EQ(failure.reason(), Reason::node_down);
  EXPECT_EQ(failure.text(), "requests timed out without any answer");
  EXPECT_FALSE(failure.not_understood());
  failure.note({.reason = Reason::foreign_server, .text = "another server has the address"});
  EXPECT_EQ(failure.reason(), Reason::foreign_server);
  failure.note({.reason = Reason::protocol_error, .text = "HTTP", .not_understood = true});
  EXPECT_EQ(failure.reason(), Reason::protocol_error);
  failure.note({.reason = Reason::protocol_error, .text = "a fault in the middle"});
  EXPECT_EQ(failure.reason(), Reason::node_down);
}

TEST(LastFailure, AnAddressThatAServerNamedIsCalledThat) {
  LastFailure failure;
  constexpr std::string_view seed = "10.0.0.1:7000";
  failure.note({.reason = Reason::connect_failed, .text = "No route to host"}, seed);
  EXPECT_EQ(failure.text(), "No route to host (10.0.0.1:7000 named this address)");
  failure.note({.reason = Reason::connection_lost, .text = "Connection reset by peer"}, seed);
  EXPECT_EQ(failure.text(), "Connection reset by peer") << "it was reached";
}

}  // namespace
}  // namespace sheaf::node
