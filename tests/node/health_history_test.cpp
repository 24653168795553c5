#include "node/health_history.h"

#include <gtest/gtest.h>

namespace sheaf::node {
namespace {

using namespace std::chrono_literals;

Now at_both(std::chrono::milliseconds time) { return {time, time}; }

TEST(HealthHistory, HasTheLatestThreeChangesWithHowLongEachLasted) {
  HealthHistory history;
  EXPECT_EQ(history.text(at_both(5s)), "");
  history.note(NodeHealth::up, "", at_both(1s));
  EXPECT_EQ(history.text(at_both(5s)), "is up since 4.00 s");
  history.note(NodeHealth::down, "Connection refused", at_both(10s));
  EXPECT_EQ(history.text(at_both(11s)),
            "is down since 1.00 s (Connection refused), before that up for 9.00 s");
  history.note(NodeHealth::recovering, "Connection refused", at_both(12s));
  history.note(NodeHealth::up, "", at_both(14s));
  EXPECT_EQ(history.text(at_both(15s)),
            "is up since 1.00 s, before that recovering for 2.00 s, and before that down for "
            "2.00 s (Connection refused)");
}

}  // namespace
}  // namespace sheaf::node
