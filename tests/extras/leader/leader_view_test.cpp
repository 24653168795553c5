// What the lock's key says about the leader.

#include "extras/leader/leader_view.h"

#include <gtest/gtest.h>

#include "base/local_error.h"

namespace sheaf::leader {
namespace {

const std::string digits = "0123456789abcdef0123456789abcdef";
const std::string others = "f123456789abcdef0123456789abcdef";

TEST(LeaderView, AHolderOfThisLibraryIsNamedWithoutItsRandomBytes) {
  EXPECT_EQ(holder_of("pump A:" + digits), "pump A");
  EXPECT_EQ(holder_of("a:b:" + digits), "a:b");
  EXPECT_EQ(holder_of(":" + digits), "");
}

TEST(LeaderView, AValueOfAnotherProgramIsTakenAsItIs) {
  for (const std::string& value :
       {std::string(), std::string("sdk-client"), digits, "pump A:" + digits.substr(1),
        "pump A;" + digits, "pump A:" + digits.substr(1) + "G", "pump A:" + digits + "0"}) {
    EXPECT_EQ(holder_of(value), value);
  }
}

TEST(LeaderView, OnlyAnotherTermIsAChange) {
  LeaderView view;
  const auto none = view.see(std::nullopt);
  ASSERT_TRUE(none) << "at first it is news that no one leads";
  EXPECT_FALSE(none->holder);
  EXPECT_FALSE(view.see(std::nullopt));
  EXPECT_EQ(view.see("A:" + digits).value().holder, "A");
  EXPECT_FALSE(view.see("A:" + digits)) << "a renewal";
  EXPECT_EQ(view.see("A:" + others).value().holder, "A") << "the same holder's next term";
  EXPECT_EQ(view.see(std::nullopt).value().holder, std::nullopt);
}

TEST(LeaderView, AReadThatFailedSaysNothingOfTheLeader) {
  const Result<GetResult> failed =
      Failure(local_error(Outcome::unknown, Reason::timed_out, "late"));
  EXPECT_EQ(leader_of(failed).error().text, "late");
  EXPECT_FALSE(leader_of(GetResult()).value().holder);
  Value sdk;
  sdk.data = "sdk";
  EXPECT_EQ(leader_of(GetResult(sdk)).value().holder, "sdk");
}

}  // namespace
}  // namespace sheaf::leader
