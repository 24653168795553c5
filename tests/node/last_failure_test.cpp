#include "node/last_failure.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

TEST(LastFailure, AConnectionThatIsReadyRefutesWhatWasRefusedBefore) {
  LastFailure failure;
  failure.note({.reason = Reason::authentication, .text = "WRONGPASS", .no_tls = true});
  EXPECT_EQ(failure.reason(), Reason::authentication);
  failure.clear();
  EXPECT_EQ(failure.reason(), Reason::node_down);
  EXPECT_EQ(failure.text(), "requests timed out without any answer");
  EXPECT_FALSE(failure.no_tls());
}

}  // namespace
}  // namespace sheaf::node
