// Replies above a limit are passed over to their end, whatever they contain.

#include <string>
#include <vector>

#include "tests/protocol/resp/read_replies.h"

namespace sheaf::protocol::resp {
namespace {

using namespace std::string_view_literals;
using Progress = ReplyReader::Progress;

constexpr ReplyLimits small{
    .text = 4, .line = 5, .bytes = 60, .elements = 6, .depth = 3, .passed_over = 300};

TEST(ReplyPassing, PassesOverALargeTextAndGoesOn) {
  const std::string bytes = "$5\r\n12345\r\n:1\r\n$9\r\n123456789\r\n$4\r\n1234\r\n";
  const std::vector<std::string> expected = {"too large: 11", "1", "too large: 15", "\"1234\""};
  for (const std::size_t piece : {1u, 2u, 3u, 4u, 5u, 11u, 100u}) {
    const ReadReplies outcome = read_all(bytes, piece, small);
    EXPECT_EQ(outcome.replies, expected) << piece;
    EXPECT_EQ(outcome.end, Progress::need_input);
  }
  EXPECT_EQ(read_one("$5\r\n123456\r\n", small),
            "broken: a misplaced or missing CR LF (0x36 at byte 9 of a reply)");
}

// The limit is exceeded at any place of the reply, with anything still open there.
TEST(ReplyPassing, WhatIsPassedOverEndsWhereTheReplyDoes) {
  for (const std::string_view reply :
       {"*7\r\n:1\r\n$-1\r\n*-1\r\n_\r\n#t\r\n,1.5\r\n(1\r\n"sv,
        "*2\r\n*2\r\n$5\r\n12345\r\n:1\r\n%1\r\n+k\r\n-v\r\n"sv,
        "*2\r\n:1\r\n*2\r\n:2\r\n*2\r\n$5\r\n12345\r\n:3\r\n"sv,
        "%1\r\n|1\r\n+a\r\n*1\r\n$9\r\n123456789\r\n+k\r\n~2\r\n:1\r\n:2\r\n"sv,
        "|1\r\n$9\r\n123456789\r\n:1\r\n:2\r\n"sv,
        "|4\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n$1\r\nv\r\n"sv,
        "|1\r\n:1\r\n|2\r\n:2\r\n:3\r\n:4\r\n+123456\r\n:5\r\n*1\r\n|0\r\n|1\r\n"
        ":1\r\n:2\r\n:3\r\n"sv,
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n"sv, "=9\r\ntxt:12345\r\n"sv,
        "*3\r\n=9\r\ntxt:12345\r\n!6\r\nERR x\n\r\n-a long line\r\n"sv, "+a long line\r\n"sv,
        "(12345678901234567890\r\n"sv, "*2\r\n+a long line\r\n(12345678901234567890\r\n"sv,
        "*6\r\n$4\r\n1234\r\n$4\r\n1234\r\n$4\r\n1234\r\n"
        "$4\r\n1234\r\n$4\r\n1234\r\n$4\r\n1234\r\n"sv}) {
    const std::string bytes =
        ":1\r\n" + std::string(reply) + ":2\r\n" + std::string(reply) + "+x\r\n";
    const std::string passed = "too large: " + std::to_string(reply.size());
    const std::vector<std::string> expected{"1", passed, "2", passed, "+x"};
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      const ReadReplies outcome = read_all(bytes, piece, small);
      ASSERT_EQ(outcome.replies, expected) << reply << " in pieces of " << piece;
      ASSERT_EQ(outcome.end, Progress::need_input) << reply << " in pieces of " << piece;
    }
  }
}

TEST(ReplyPassing, WhatIsPassedOverIsCheckedAllTheSame) {
  const auto read = [](std::string_view bytes) { return read_one(bytes, small); };
  const std::string begin = "*9\r\n";
  for (const std::string_view bad :
       {"x", ":01\r\n", ",x\r\n", "#x\r\n", "_x\r\n", "$x\r\n", "*x\r\n", "$1\r\nxy\r\n", "$?\r\n",
        "*?\r\n", ";1\r\n", ">1\r\n", "+a\n", "+a\rb\r\n", "+a long\rline\r\n", "-\n",
        "$9\r\n123456789x", "%-1\r\n", "$-2\r\n"}) {
    EXPECT_TRUE(read(begin + std::string(bad)).starts_with("broken: ")) << bad;
    EXPECT_TRUE(read(begin + ":1\r\n" + std::string(bad)).starts_with("broken: ")) << bad;
  }
  EXPECT_EQ(read("*9\r\n:1\r\n\0"sv),
            "broken: a byte that begins no reply (0x00 at byte 8 of a reply)");
  EXPECT_EQ(read("*9\r\n$9\r\n123456789\r\n+x\rx"),
            "broken: a misplaced or missing CR LF (0x0d at byte 21 of a reply)");
}

// A push concerns the whole connection.
TEST(ReplyPassing, ALargePushIsNotPassedOver) {
  EXPECT_EQ(read_one(">7\r\n", small),
            "broken: a reply above its limit of elements (0x3e at byte 0 of a reply)");
  EXPECT_EQ(read_one(">2\r\n+x\r\n*1\r\n$5\r\n", small),
            "broken: a text above its limit (0x24 at byte 12 of a reply)");
  EXPECT_EQ(read_one("|4\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n>1\r\n", small),
            "broken: a push inside a reply (0x3e at byte 36 of a reply)");
}

TEST(ReplyPassing, WhatIsPassedOverHasAnEndThatItCannotAnnounceBeyond) {
  const auto read = [](const std::string& bytes) { return read_one(bytes, small); };
  const auto nulls = [](std::size_t count) {
    std::string bytes = "*" + std::to_string(count) + "\r\n";
    for (std::size_t i = 0; i < count; ++i) bytes += "_\r\n";
    return bytes;
  };
  EXPECT_TRUE(read(nulls(98)).starts_with("too large: 299"));
  EXPECT_TRUE(read(nulls(99)).starts_with("too large: 302")) << "its last value begins in time";
  EXPECT_TRUE(read(nulls(100)).starts_with("broken: a reply above its limit of elements"));
  std::string numbers = "*90\r\n";
  for (int i = 0; i < 90; ++i) numbers += ":1\r\n";
  EXPECT_EQ(read(numbers),
            "broken: a reply above its limit of bytes (0x3a at byte 301 of a reply)");
  EXPECT_TRUE(read("*101\r\n").starts_with("broken: a reply above its limit of elements"));
  EXPECT_TRUE(read("*50\r\n*51\r\n").starts_with("broken: a reply above its limit of elements"));
  EXPECT_TRUE(read("%51\r\n").starts_with("broken: a reply above its limit of elements"));
  EXPECT_TRUE(
      read("*9223372036854775807\r\n").starts_with("broken: a reply above its limit of elements"));
  EXPECT_TRUE(
      read("|9223372036854775807\r\n").starts_with("broken: a reply above its limit of elements"));
  const std::string text(292, 'x');
  EXPECT_TRUE(read("$292\r\n" + text + "\r\n").starts_with("too large: 300"));
  EXPECT_TRUE(read("$293\r\n").starts_with("broken: a reply above its limit of bytes"));
  EXPECT_TRUE(
      read("*2\r\n$288\r\n" + text.substr(4) + "\r\n:").starts_with("broken: a reply above"));
  EXPECT_TRUE(read("$9223372036854775807\r\n").starts_with("broken: a reply above its limit"));
  EXPECT_TRUE(read("+" + text + "12345\r\n").starts_with("too large: 300"));
  EXPECT_EQ(read("+" + text + "1234567\r\n"),
            "broken: a reply above its limit of bytes (0x0d at byte 300 of a reply)");
  std::string attributes;
  while (attributes.size() <= 300) attributes += "|0\r\n";
  EXPECT_TRUE(read(attributes).starts_with("broken: a reply above its limit of bytes"));
}

TEST(ReplyPassing, OfWhatIsPassedOverNothingIsKept) {
  ReplyReader reader({.elements = 10'000});
  const std::string begin = "*100000000\r\n";
  ASSERT_EQ(reader.read(begin), Progress::pass_over);
  ASSERT_EQ(reader.size(), 0u);
  std::string nested = begin;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 100'000; ++i) nested += "*1\r\n$1\r\nv\r\n";
    std::string_view rest = nested;
    while (reader.read(rest) == Progress::pass_over) rest.remove_prefix(reader.size());
    ASSERT_TRUE(rest.empty());
    nested.clear();
  }
  EXPECT_LE(reader.capacity(), 16u);
}

}  // namespace
}  // namespace sheaf::protocol::resp
