#include "socket/useless_addresses.h"

#include <gtest/gtest.h>

namespace sheaf::socket {
namespace {

using namespace std::chrono_literals;

TEST(UselessAddresses, AreForgottenAfterAWhile) {
  UselessAddresses useless;
  EXPECT_FALSE(useless.contains("a", 0s));
  useless.note("a", 0s);
  EXPECT_TRUE(useless.contains("a", UselessAddresses::memory - 1ns));
  EXPECT_FALSE(useless.contains("b", 0s));
  EXPECT_FALSE(useless.contains("a", UselessAddresses::memory));
  useless.note("a", 10s);
  EXPECT_TRUE(useless.contains("a", UselessAddresses::memory + 9s));
}

TEST(UselessAddresses, TakeNoMoreMemoryThanThoseOfThatWhile) {
  UselessAddresses useless;
  for (int i = 0; i < 1'000; ++i) {
    useless.note(std::to_string(i), i * UselessAddresses::memory);
    EXPECT_EQ(useless.size(), 1u);
  }
}

}  // namespace
}  // namespace sheaf::socket
