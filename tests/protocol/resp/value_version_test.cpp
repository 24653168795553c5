#include "protocol/resp/changes/value_version.h"

#include <gtest/gtest.h>

#include <string>

namespace sheaf::protocol::resp {
namespace {

TEST(ValueVersion, IsTheSameEverywhereAndForEver) {
  EXPECT_EQ(ValueVersion::of("").text(), ValueVersion::of(std::string()).text());
  EXPECT_EQ(ValueVersion::of("").text().size(), ValueVersion::size);
  EXPECT_EQ(ValueVersion::of("value"), ValueVersion::of("value"));
  EXPECT_NE(ValueVersion::of("value"), ValueVersion::of("value "));
  EXPECT_NE(ValueVersion::of(""), ValueVersion::of(std::string(1, '\0')));
  EXPECT_EQ(ValueVersion::of("").text(), "_lUjGRywBAYj5RB");
  EXPECT_EQ(ValueVersion::of("value").text(), "aY5Ew-GUZ1FU9qZ");
}

TEST(ValueVersion, AllOfItsDigitsDependOnTheValue) {
  for (std::size_t digit = 0; digit < ValueVersion::size; ++digit) {
    std::string seen;
    for (int i = 0; i < 100; ++i) {
      const ValueVersion version = ValueVersion::of(std::to_string(i));
      const char here = version.text()[digit];
      if (!seen.contains(here)) seen.push_back(here);
    }
    EXPECT_GT(seen.size(), 20u) << digit;
  }
}

TEST(ValueVersion, ItsTextIsReadBackAndNothingElseIs) {
  const ValueVersion version = ValueVersion::of("value");
  EXPECT_EQ(ValueVersion::parse(version.text()), version);
  EXPECT_TRUE(ValueVersion().empty());
  for (const std::string_view text : {"", "1", "0123456789abcd", "0123456789abcdef",
                                      "0123456789abcd=", "0123456789 bcde", "0123456789abcd\n"}) {
    EXPECT_TRUE(ValueVersion::parse(text).empty()) << text;
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
