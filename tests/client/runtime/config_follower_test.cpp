// When the follower of a configuration file notifies.

#include "client/runtime/config_follower.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace sheaf::client::runtime {
namespace {

using namespace std::chrono_literals;

// A program that opened clusters a while ago and follows their file now has not read later changes.
TEST(ConfigFollower, ItsFirstLookTellsOfAFileThatWasWrittenLongBefore) {
  std::promise<void> told;
  const ConfigFollower follower("/proc/self/exe", [&] { told.set_value(); });
  EXPECT_EQ(told.get_future().wait_for(30s), std::future_status::ready);
}

}  // namespace
}  // namespace sheaf::client::runtime
