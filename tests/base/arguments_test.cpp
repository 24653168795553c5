#include "base/arguments.h"

#include <gtest/gtest.h>

namespace sheaf::arguments {
namespace {

using namespace std::chrono_literals;

TEST(TimesToLive, WithoutOneTheDefaultOfTheClusterHoldsUnlessTheCallSaysNever) {
  ClusterConfig config;
  EXPECT_EQ(effective_ttl(std::nullopt, config), 0ms);
  EXPECT_EQ(effective_ttl(Ttl::never(), config), 0ms);
  config.default_ttl = 2s;
  EXPECT_EQ(effective_ttl(std::nullopt, config), 2s);
  EXPECT_EQ(effective_ttl(1ms, config), 1ms);
  EXPECT_EQ(effective_ttl(Ttl::never(), config), 0ms);
}

TEST(TimesToLive, NeverIsTheOnlyOneOutsideTheRangeThatIsTaken) {
  EXPECT_FALSE(check_ttl(std::nullopt));
  EXPECT_FALSE(check_ttl(1ms));
  EXPECT_FALSE(check_ttl(Ttl::max));
  EXPECT_FALSE(check_ttl(Ttl::never()));
  EXPECT_FALSE(Ttl::never().valid());
  for (const Ttl low : {Ttl(0ms), Ttl(-1ms), Ttl(std::chrono::milliseconds::min())}) {
    EXPECT_EQ(check_ttl(low)->text, "the time to live is 0 or negative; it must be at least 1 ms");
  }
  EXPECT_EQ(check_ttl(Ttl::max + 1ms)->text,
            "the time to live is above the limit of 922337203685477 ms");
}

}  // namespace
}  // namespace sheaf::arguments
