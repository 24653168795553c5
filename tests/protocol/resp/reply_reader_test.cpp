#include "protocol/resp/wire/reply_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/protocol/resp/read_replies.h"

namespace sheaf::protocol::resp {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using Progress = ReplyReader::Progress;
using Fault = ReplyFault::Kind;

TEST(ReplyReader, ReadsEveryType) {
  EXPECT_EQ(read_one("+OK\r\n"), "+OK");
  EXPECT_EQ(read_one("+\r\n"), "+");
  EXPECT_EQ(read_one("-ERR no\r\n"), "-ERR no");
  EXPECT_EQ(read_one("!6\r\nERR\r\nx\r\n"), "-ERR\\x0D\\x0Ax");
  EXPECT_EQ(read_one(":42\r\n"), "42");
  EXPECT_EQ(read_one("$5\r\na\r\nbc\r\n"), "\"a\\x0D\\x0Abc\"");
  EXPECT_EQ(read_one("$0\r\n\r\n"), "\"\"");
  EXPECT_EQ(read_one("_\r\n"), "null");
  EXPECT_EQ(read_one("$-1\r\n"), "null");
  EXPECT_EQ(read_one("*-1\r\n"), "null");
  EXPECT_EQ(read_one(",2.5\r\n"), "2.5");
  EXPECT_EQ(read_one("#t\r\n"), "true");
  EXPECT_EQ(read_one("#f\r\n"), "false");
  EXPECT_EQ(read_one("(-3492890328409238509324850943850943825024385\r\n"),
            "(-3492890328409238509324850943850943825024385");
  EXPECT_EQ(read_one("=8\r\ntxt:a\r\nb\r\n"), "\"a\\x0D\\x0Ab\"");
  EXPECT_EQ(read_one("*0\r\n"), "[]");
  EXPECT_EQ(read_one("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n"), "[1 [\"x\"]]");
  EXPECT_EQ(read_one("%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n"), "{+a 1 +b {}}");
  EXPECT_EQ(read_one("~2\r\n:1\r\n:2\r\n"), "~[1 2]");
  EXPECT_EQ(read_one(">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n"), ">[+invalidate [\"k\"]]");
}

TEST(ReplyReader, TakesEitherFormOfNullAnywhere) {
  EXPECT_EQ(read_one("*4\r\n$-1\r\n*-1\r\n_\r\n$1\r\n4\r\n"), "[null null null \"4\"]");
  EXPECT_EQ(read_one("*2\r\n:4\r\n$-1\r\n"), "[4 null]");
  EXPECT_EQ(read_one("*2\r\n:3\r\n_\r\n"), "[3 null]");
}

TEST(ReplyReader, LeavesAttributesOutOfTheTree) {
  EXPECT_EQ(read_one("|1\r\n+ttl\r\n:3600\r\n:5\r\n"), "5");
  EXPECT_EQ(read_one("*2\r\n|1\r\n+a\r\n*2\r\n:1\r\n:2\r\n:7\r\n|0\r\n*0\r\n"), "[7 []]");
  EXPECT_EQ(read_one("|1\r\n|1\r\n+x\r\n+y\r\n+a\r\n:1\r\n|0\r\n%1\r\n+k\r\n|0\r\n+v\r\n"),
            "{+k +v}");
  EXPECT_EQ(read_one("|1\r\n+a\r\n:1\r\n"), "0 replies") << "the value is missing";
}

TEST(ReplyReader, NumbersMayHaveASignAndNoLeadingZeros) {
  EXPECT_EQ(read_one(":0\r\n"), "0");
  EXPECT_EQ(read_one(":+0\r\n"), "0");
  EXPECT_EQ(read_one(":+17\r\n"), "17");
  EXPECT_EQ(read_one(":+9223372036854775807\r\n"), "9223372036854775807");
  EXPECT_EQ(read_one("(+12345678901234567890\r\n"), "(12345678901234567890");
  for (const std::string_view bad : {":++1\r\n", ":+-1\r\n", ":-+1\r\n", ":+\r\n", ":+01\r\n",
                                     ":+9223372036854775808\r\n", "(+\r\n", "(+-1\r\n"}) {
    EXPECT_TRUE(read_one(bad).starts_with("broken: a malformed number")) << bad;
  }
  EXPECT_EQ(read_one(":-1\r\n"), "-1");
  EXPECT_EQ(read_one(":9223372036854775807\r\n"), "9223372036854775807");
  EXPECT_EQ(read_one(":-9223372036854775808\r\n"), "-9223372036854775808");
  for (const std::string_view bad :
       {"", "-", "-0", "00", "01", "1 ", " 1", "1a", "0x1", "9223372036854775808",
        "-9223372036854775809", "18446744073709551617", "1.0", "?", "123456789012345678901234"}) {
    const std::string bytes = ":" + std::string(bad) + "\r\n";
    EXPECT_TRUE(read_one(bytes).starts_with("broken: a malformed number")) << bytes;
    if (bad == "-" || bad == "?") continue;
    EXPECT_TRUE(read_one("$" + std::string(bad) + "\r\n").starts_with("broken: a malformed"))
        << bad;
    EXPECT_TRUE(read_one("*" + std::string(bad) + "\r\n").starts_with("broken: a malformed"))
        << bad;
  }
}

TEST(ReplyReader, LengthsWithASignAreRefusedButForNull) {
  for (const std::string_view bytes :
       {"$+1\r\n", "*+1\r\n", "%+1\r\n", "~+0\r\n", ">+1\r\n", "|+1\r\n", "!+1\r\n", "=+5\r\n",
        "$-2\r\n", "*-2\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n", "|-1\r\n", "!-1\r\n", "=-1\r\n"}) {
    EXPECT_TRUE(read_one(bytes).starts_with("broken: a malformed number or length")) << bytes;
  }
}

TEST(ReplyReader, ReadsRealNumbers) {
  const auto real = [](std::string_view text) {
    const std::string bytes = "," + std::string(text) + "\r\n";
    ReplyReader reader;
    return reader.read(bytes) == Progress::complete ? reader.root().real() : std::nullopt;
  };
  EXPECT_EQ(real("3"), 3.0);
  EXPECT_EQ(real("-0"), 0.0);
  EXPECT_EQ(real("+1.5"), 1.5);
  EXPECT_EQ(real("1.5e-7"), 1.5e-7);
  EXPECT_EQ(real("1E+3"), 1000.0);
  EXPECT_EQ(real("inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(real("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(real("nan").value_or(0)));
  EXPECT_TRUE(std::isnan(real("-nan").value_or(0)));
  for (const std::string_view bad :
       {"", "-", "+", "+-1", "++1", "+inf", "+nan", ".5", "5.", "1e", "1e+", "infinity", "INF",
        "nan(1)", "0x1p3", "1e999", "1,5", "1.5 ", "--1"}) {
    EXPECT_FALSE(real(bad)) << bad;
  }
}

TEST(ReplyReader, AnyOtherByteEndsTheStreamAndIsNamed) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if ("+-:$*_,#!=(%~>|;."sv.contains(c)) continue;
    ReplyReader reader;
    ASSERT_EQ(reader.read(std::string_view(&c, 1)), Progress::broken) << byte;
    EXPECT_EQ(reader.fault().kind, Fault::no_type);
    EXPECT_EQ(reader.fault().byte, byte);
    EXPECT_EQ(reader.read("+OK\r\n"), Progress::broken) << "for ever";
  }
  EXPECT_EQ(read_one("*2\r\n:1\r\n\0:2\r\n"sv),
            "broken: a byte that begins no reply (0x00 at byte 8 of a reply)");
}

// Garnet 2.2.5 sends this after EXPIRE on a dead key: 128 KiB of its buffer.
TEST(ReplyReader, BytesAfterACompleteReplyAreJudgedOnTheirOwn) {
  const std::string garbage(128 * 1024, '\0');
  const ReadReplies outcome = read_all("+OK\r\n" + garbage, 4096);
  EXPECT_EQ(outcome.replies, std::vector<std::string>{"+OK"});
  EXPECT_EQ(outcome.fault, "a byte that begins no reply (0x00 at byte 0 of a reply)");
}

TEST(ReplyReader, LineEndsAreWhereTheyBelong) {
  EXPECT_EQ(read_one("+a\n"), "broken: a misplaced or missing CR LF (0x0a at byte 2 of a reply)");
  EXPECT_EQ(read_one("+a\rb\r\n"),
            "broken: a misplaced or missing CR LF (0x0d at byte 2 of a reply)");
  EXPECT_EQ(read_one("+\n"), "broken: a misplaced or missing CR LF (0x0a at byte 1 of a reply)");
  EXPECT_EQ(read_one("$1\r\nxy\n"),
            "broken: a misplaced or missing CR LF (0x79 at byte 5 of a reply)");
  EXPECT_EQ(read_one("$1\r\nx\rz"),
            "broken: a misplaced or missing CR LF (0x7a at byte 6 of a reply)");
  EXPECT_EQ(read_one("_x\r\n"), "broken: a malformed null (0x78 at byte 1 of a reply)");
  EXPECT_EQ(read_one("#x\r\n"), "broken: a malformed boolean (0x78 at byte 1 of a reply)");
  EXPECT_EQ(read_one("#\r\n"), "broken: a malformed boolean (0x0d at byte 1 of a reply)");
  EXPECT_EQ(read_one("(1a\r\n"),
            "broken: a malformed number or length (0x31 at byte 1 of a reply)");
  EXPECT_EQ(read_one("=3\r\ntxt\r\n"),
            "broken: a verbatim text without a format (0x74 at byte 4 of a reply)");
  EXPECT_EQ(read_one("=5\r\ntext:\r\n"),
            "broken: a verbatim text without a format (0x74 at byte 4 of a reply)");
}

TEST(ReplyReader, StreamedRepliesAreRefused) {
  for (const std::string_view bytes : {"$?\r\n", "*?\r\n", "%?\r\n", "~?\r\n", ";4\r\n", ".\r\n"}) {
    EXPECT_TRUE(read_one(bytes).starts_with("broken: a streamed reply")) << bytes;
  }
}

TEST(ReplyReader, APushInsideAReplyIsRefused) {
  EXPECT_EQ(read_one("*1\r\n>1\r\n+x\r\n"),
            "broken: a push inside a reply (0x3e at byte 4 of a reply)");
  EXPECT_EQ(read_one("|1\r\n+a\r\n>1\r\n+x\r\n:1\r\n"),
            "broken: a push inside a reply (0x3e at byte 8 of a reply)");
}

TEST(ReplyReader, LimitsHoldToTheByte) {
  const ReplyLimits limits{.text = 4, .line = 5, .bytes = 40, .elements = 6, .depth = 2};
  const auto read = [&](std::string_view bytes) { return read_one(bytes, limits); };
  EXPECT_EQ(read("+12345\r\n"), "+12345");
  EXPECT_EQ(read("+123456\r\n"),
            "too large: 9: a line above its limit (0x2b at byte 0 of a reply)");
  EXPECT_EQ(read("*1\r\n$4\r\n1234\r\n"), "[\"1234\"]");
  EXPECT_EQ(read("*1\r\n$5\r\n12345\r\n"),
            "too large: 15: a text above its limit (0x24 at byte 4 of a reply)");
  EXPECT_EQ(read("!5\r\n12345\r\n"),
            "too large: 11: a text above its limit (0x21 at byte 0 of a reply)");
  EXPECT_EQ(read("*6\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"), "[1 1 1 1 1 1]");
  EXPECT_EQ(read("*7\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"),
            "too large: 32: a reply above its limit of elements (0x2a at byte 0 of a reply)");
  EXPECT_EQ(read("%2\r\n%1\r\n:1\r\n:2\r\n:3\r\n*1\r\n:4\r\n:5\r\n"),
            "too large: 32: a reply above its limit of elements (0x2a at byte 20 of a reply)");
  EXPECT_EQ(read("*1\r\n*1\r\n*0\r\n"), "[[[]]]");
  EXPECT_EQ(read("*1\r\n*1\r\n*1\r\n_\r\n"),
            "too large: 15: a reply above its limit of depth (0x2a at byte 8 of a reply)");
  EXPECT_EQ(read("*4\r\n$4\r\n1234\r\n$4\r\n1234\r\n$4\r\n1234\r\n$4\r\n1234\r\n"),
            "too large: 44: a reply above its limit of bytes (0x24 at byte 34 of a reply)");
  EXPECT_EQ(read("*5\r\n+12345\r\n+12345\r\n+12345\r\n+12345\r\n+1\r\n"),
            "[+12345 +12345 +12345 +12345 +1]");
  EXPECT_EQ(read("*5\r\n+12345\r\n+12345\r\n+12345\r\n+12345\r\n+12\r\n"),
            "too large: 41: a reply above its limit of bytes (0x2b at byte 36 of a reply)");
}

TEST(ReplyReader, EndlessLengthsAreRefused) {
  EXPECT_TRUE(read_one("$" + std::string(100, '1')).starts_with("broken: a line above its limit"));
  EXPECT_TRUE(read_one(":" + std::string(100, '1')).starts_with("broken: a line above its limit"));
}

TEST(ReplyReader, AKeptReplyOutlivesItsInput) {
  ReplyReader reader;
  std::string bytes = "*3\r\n$5\r\nhello\r\n%1\r\n+k\r\n:7\r\n-ERR x\r\n";
  ASSERT_EQ(reader.read(bytes), Progress::complete);
  const KeptReply kept = reader.keep();
  bytes.assign(bytes.size(), '\0');
  EXPECT_EQ(reply_text(kept.root()), "[\"hello\" {+k 7} -ERR x]");
}

TEST(ReplyReader, AnIdleReaderHoldsLittle) {
  ReplyReader reader;
  std::string bytes = "*100000\r\n";
  for (int i = 0; i < 100'000; ++i) bytes += ":1\r\n";
  ASSERT_EQ(reader.read(bytes), Progress::complete);
  EXPECT_GE(reader.capacity(), 100'001u);
  ASSERT_EQ(reader.read("+OK\r\n"), Progress::complete);
  EXPECT_LE(reader.capacity(), 16u);
}

TEST(ReplyValue, ConvertsOnlyWhatMeansTheSame) {
  ReplyReader reader;
  const std::string bytes =
      "*8\r\n:7\r\n$2\r\n12\r\n$1\r\nx\r\n$3\r\n1.5\r\n#t\r\n:0\r\n:2\r\n-7\r\n";
  ASSERT_EQ(reader.read(bytes), Progress::complete);
  const Value root = reader.root();
  EXPECT_EQ(root.at(0)->number(), 7);
  EXPECT_EQ(root.at(0)->real(), 7.0);
  EXPECT_EQ(root.at(1)->number(), 12);
  EXPECT_FALSE(root.at(2)->number());
  EXPECT_EQ(root.at(3)->real(), 1.5);
  EXPECT_EQ(root.at(4)->boolean(), true);
  EXPECT_EQ(root.at(5)->boolean(), false);
  EXPECT_FALSE(root.at(6)->boolean());
  EXPECT_FALSE(root.at(7)->number()) << "an error is no number";
  EXPECT_FALSE(root.at(8));
  EXPECT_EQ(root.at(0)->size(), 0u);
  EXPECT_FALSE(root.at(0)->at(0));
  EXPECT_TRUE(Value().is_null());
}

TEST(ReplyValue, FindsKeysInMapsAndInArraysOfPairs) {
  for (const std::string_view bytes : {"%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n*1\r\n+a\r\n"sv,
                                       "*4\r\n+a\r\n:1\r\n+b\r\n*1\r\n+a\r\n"sv,
                                       "*5\r\n+a\r\n:1\r\n+b\r\n*1\r\n+a\r\n+odd\r\n"sv}) {
    ReplyReader reader;
    ASSERT_EQ(reader.read(bytes), Progress::complete);
    EXPECT_EQ(reader.root().find("a")->number(), 1);
    EXPECT_EQ(reader.root().find("b")->size(), 1u);
    EXPECT_FALSE(reader.root().find("c"));
    EXPECT_FALSE(reader.root().find("odd"));
  }
}

// ---- properties

// Appends the bytes of a random value and returns its text.
std::string random_reply(Random& random, std::string& bytes, unsigned depth) {
  const auto kind = random.below(depth > 0 ? 14 : 8);
  const std::string word = random.hex(random.below(12));
  const auto crlf = "\r\n"s;
  switch (kind) {
    case 0:
      bytes += "+" + word + crlf;
      return "+" + word;
    case 1:
      bytes += "-" + word + crlf;
      return "-" + word;
    case 2: {
      const std::string number = std::to_string(static_cast<std::int64_t>(random.u64()));
      bytes += ":" + number + crlf;
      return number;
    }
    case 3:
    case 4:
      bytes += "$" + std::to_string(word.size()) + crlf + word + crlf;
      return "\"" + word + "\"";
    case 5:
      bytes += random.below(2) == 0 ? "_\r\n" : random.below(2) == 0 ? "$-1\r\n" : "*-1\r\n";
      return "null";
    case 6:
      bytes += "#t\r\n";
      return "true";
    case 7:
      bytes += "=" + std::to_string(word.size() + 4) + "\r\nmkd:" + word + crlf;
      return "\"" + word + "\"";
    default:
      break;
  }
  if (kind == 8) {
    bytes += "|1\r\n";
    random_reply(random, bytes, depth - 1);
    random_reply(random, bytes, depth - 1);
    return random_reply(random, bytes, depth - 1);
  }
  const bool map = kind == 9;
  const auto count = random.below(4);
  bytes += (map ? "%" : kind == 10 ? "~" : "*") + std::to_string(count) + crlf;
  std::string text = map ? "{" : kind == 10 ? "~[" : "[";
  for (std::uint64_t i = 0; i < (map ? 2 * count : count); ++i) {
    text += (i > 0 ? " " : "") + random_reply(random, bytes, depth - 1);
  }
  return text + (map ? "}" : "]");
}

TEST(ReplyReader, AnyTreeIsReadTheSameInAnyPieces) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    std::string bytes;
    std::vector<std::string> expected;
    for (int i = 0; i < 4; ++i) expected.push_back(random_reply(random, bytes, 5));
    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{2 + random.below(20)}, bytes.size()}) {
      const ReadReplies outcome = read_all(bytes, piece);
      ASSERT_EQ(outcome.replies, expected) << "seed " << seed << ", pieces of " << piece;
      ASSERT_EQ(outcome.end, Progress::need_input) << "seed " << seed;
    }
  }
}

TEST(ReplyReader, DamagedBytesAreReadTheSameInAnyPieces) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Random random(seed);
    std::string bytes;
    for (int i = 0; i < 3; ++i) random_reply(random, bytes, 3);
    for (std::uint64_t hits = 1 + random.below(3); hits > 0; --hits) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.u32());
    }
    const ReplyLimits limits{
        .text = 6, .line = 7, .bytes = 100, .elements = 9, .depth = 2, .passed_over = 200};
    const ReadReplies whole = read_all(bytes, bytes.size(), limits);
    ASSERT_EQ(read_all(bytes, 1, limits), whole) << "seed " << seed;
    ASSERT_EQ(read_all(bytes, 1 + random.below(9), limits), whole) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
