#include "protocol/memcached/rules.h"

#include <gtest/gtest.h>

namespace sheaf::protocol::memcached {
namespace {

TEST(Versions, NumbersAreComparedAndTheRestDoesNotCount) {
  EXPECT_EQ(ServerVersion::parse("1.6.18"), (ServerVersion{1, 6, 18}));
  EXPECT_EQ(ServerVersion::parse("1.4.5_4_gaa7839e"), (ServerVersion{1, 4, 5}));
  EXPECT_LT((ServerVersion{1, 6, 9}), meta_since);
  EXPECT_LT((ServerVersion{1, 5, 22}), meta_since);
  EXPECT_GE((ServerVersion{1, 6, 10}), meta_since);
  EXPECT_GE((ServerVersion{2, 0, 0}), meta_since);
  for (const char* text : {"", "1", "1.6", "1.6.", "v1.6.18", "-1.6.18", "1.6.99999999999", "x"}) {
    EXPECT_FALSE(ServerVersion::parse(text).has_value()) << text;
  }
}

TEST(Rules, AnOperationThatMemcachedHasNotIsNamed) {
  Operation watch;
  watch.verb = Verb::watch;
  const auto refused = bad_combination(watch);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->outcome, Outcome::unsupported);
  EXPECT_EQ(refused->text, "memcached has no operation \"watch\"");
}

TEST(Values, AVersionIsADecimalNumberThatIsNotZero) {
  EXPECT_EQ(parse_cas("18446744073709551615"), 18'446'744'073'709'551'615u);
  EXPECT_EQ(parse_cas("1"), 1u);
  for (const char* text : {"", "0", "-1", "1 ", "18446744073709551616", "a"}) {
    EXPECT_FALSE(parse_cas(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace sheaf::protocol::memcached
