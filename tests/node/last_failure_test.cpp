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

}  // namespace
}  // namespace sheaf::node
