#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(ParseDecimal, TakesDigitsOnly) {
  EXPECT_EQ(parse_decimal("0"), 0u);
  EXPECT_EQ(parse_decimal("0042"), 42u);
  EXPECT_EQ(parse_decimal("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseDecimal, RefusesEverythingElse) {
  for (const auto* text : {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "1e3", "one",
                           "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_FALSE(parse_decimal(text)) << text;
  }
}

TEST(ParseSize, TakesBytesAndBinaryUnits) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4'096u);
  EXPECT_EQ(parse_size("64KiB"), 65'536u);
  EXPECT_EQ(parse_size("16MiB"), 16u << 20);
  EXPECT_EQ(parse_size("1GiB"), 1u << 30);
  EXPECT_EQ(parse_size("17179869183GiB"), 17'179'869'183u << 30);
}

TEST(ParseSize, RefusesOtherUnitsAndOverflow) {
  for (const auto* text : {"", "KiB", "1kib", "1 KiB", "1KB", "1K", "1B", "-1KiB", "1KiBKiB",
                           "17179869184GiB", "18446744073709551616"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ParseDuration, TakesAnIntegerAndAUnit) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("3s"), 3s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("24h"), 24h);
  EXPECT_EQ(parse_duration("0s"), 0ms);
  EXPECT_EQ(parse_duration("9223372036854775807ms"), std::chrono::milliseconds::max());
}

TEST(ParseDuration, RefusesMissingOrUnknownUnitsAndOverflow) {
  for (const auto* text : {"", "3", "s", "ms", "3S", "3 s", "3sec", "-3s", "1.5s", "3d",
                           "9223372036854775808ms", "9223372036854776s", "2562047788016h"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(FormatDuration, PicksTheLargestUnitThatIsExact) {
  EXPECT_EQ(format_duration(1500ms), "1500ms");
  EXPECT_EQ(format_duration(3s), "3s");
  EXPECT_EQ(format_duration(60s), "1m");
  EXPECT_EQ(format_duration(90s), "90s");
  EXPECT_EQ(format_duration(24h), "24h");
  EXPECT_EQ(format_duration(0ms), "0ms");
}

TEST(FormatDuration, IsReadBackAsTheSameDuration) {
  for (const auto duration : {1ms, 999ms, 1000ms, 61'000ms, 3'600'000ms, 86'400'001ms}) {
    EXPECT_EQ(parse_duration(format_duration(duration)), duration);
  }
}

TEST(FormatElapsed, ShowsThreeDigitsInTheFittingUnit) {
  EXPECT_EQ(format_elapsed(0ns), "0 ns");
  EXPECT_EQ(format_elapsed(850ns), "850 ns");
  EXPECT_EQ(format_elapsed(85us), "85 us");
  EXPECT_EQ(format_elapsed(1'234us), "1.23 ms");
  EXPECT_EQ(format_elapsed(12'300us), "12.3 ms");
  EXPECT_EQ(format_elapsed(123'456us), "123 ms");
  EXPECT_EQ(format_elapsed(1s), "1.00 s");
  EXPECT_EQ(format_elapsed(1200ms), "1.20 s");
  EXPECT_EQ(format_elapsed(24h), "86400 s");
  EXPECT_EQ(format_elapsed(-1200ms), "-1.20 s");
}

TEST(FormatElapsed, CarriesIntoTheNextUnitWhenRoundingUp) {
  EXPECT_EQ(format_elapsed(999'600ns), "1.00 ms");
  EXPECT_EQ(format_elapsed(999'400ns), "999 us");
  EXPECT_EQ(format_elapsed(9'996us), "10.0 ms");
  EXPECT_EQ(format_elapsed(99'960us), "100 ms");
  EXPECT_EQ(format_elapsed(999'499us), "999 ms");
  EXPECT_EQ(format_elapsed(999'500us), "1.00 s");
}

TEST(FormatElapsed, SurvivesTheEndsOfTheRange) {
  EXPECT_EQ(format_elapsed(std::chrono::nanoseconds::max()), "9223372037 s");
  EXPECT_EQ(format_elapsed(std::chrono::nanoseconds::min()), "-9223372037 s");
}

TEST(Hex, EncodesUpperCaseAndDecodesBothCases) {
  EXPECT_EQ(hex_encode("\x00\x1f\xff"s), "001FFF");
  EXPECT_EQ(hex_decode("001fFf"), "\x00\x1f\xff"s);
  EXPECT_EQ(hex_decode(""), "");
  std::string out = "id-";
  hex_append(out, "Az");
  EXPECT_EQ(out, "id-417A");
}

TEST(Hex, RefusesOddLengthAndForeignDigits) {
  for (const auto* text : {"0", "0g", "g0", "0 ", "-1", "0x"}) {
    EXPECT_FALSE(hex_decode(text)) << text;
  }
}

// RFC 4648 §10.
TEST(Base64, MatchesTheVectorsOfTheRfc) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(base64_encode(plain), encoded);
    EXPECT_EQ(base64_decode(encoded), plain);
  }
}

TEST(Base64, ReadsBackEveryByteAtEveryPosition) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (std::size_t cut = 0; cut < 4; ++cut) {
    const std::string part = bytes.substr(cut);
    EXPECT_EQ(base64_decode(base64_encode(part)), part);
  }
}

TEST(Base64, RefusesWhatIsNotStrictlyEncoded) {
  for (const auto* text : {"Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9=v",
                           "Zm 8=", "Zm9v\n", "Zh==", "Zm9=", "Z-_v"}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

TEST(Utf8, AcceptsEveryLengthAtItsEdges) {
  for (const auto* text : {"", "plain", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
                           "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80",
                           "\xf4\x8f\xbf\xbf", "eight ch\xc3\xa4r block \xe2\x82\xac"}) {
    EXPECT_TRUE(is_utf8(text)) << hex_encode(text);
  }
  EXPECT_TRUE(is_utf8("\0"s));
}

TEST(Utf8, RefusesOverlongSurrogateStrayAndTruncated) {
  for (const auto* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe0\xa0",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff", "12345678\xff", "1234567\xc3", "\xe2\x28\xa1"}) {
    EXPECT_FALSE(is_utf8(text)) << hex_encode(text);
  }
}

TEST(Printable, EscapesWhatATerminalWouldInterpret) {
  EXPECT_EQ(printable("a key"), "a key");
  EXPECT_EQ(printable("\x1b[31m\r\n\0"s), "\\x1B[31m\\x0D\\x0A\\x00");
  EXPECT_EQ(printable("\xc3\xa4\x7f"), "\\xC3\\xA4\\x7F");
}

TEST(Printable, CutsAtTheLimitAndSaysSo) {
  EXPECT_EQ(printable("12345678", 8), "12345678");
  EXPECT_EQ(printable("123456789", 8), "12345678...");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 64u + 3u);
}

TEST(Without, TakesASecretOutWhereverItIs) {
  EXPECT_EQ(without("pw is no pw, pwd", "pw"), "... is no ..., ...d");
  EXPECT_EQ(without("nothing", "pw"), "nothing");
  EXPECT_EQ(without("a password", ""), "a password");
  EXPECT_EQ(without("pppp", "pp"), "......");
  EXPECT_EQ(without("", "pw"), "");
}

TEST(ContainsIgnoringCase, FindsAPartInAnyCaseAndPlace) {
  EXPECT_TRUE(contains_ignoring_case("Out of memory during read", "out of memory"));
  EXPECT_TRUE(contains_ignoring_case("it is OUT", "Out"));
  EXPECT_FALSE(contains_ignoring_case("out of memor", "out of memory"));
  EXPECT_FALSE(contains_ignoring_case("", "x"));
  EXPECT_TRUE(contains_ignoring_case("", ""));
  EXPECT_FALSE(contains_ignoring_case("[", "{")) << "letters only";
}

TEST(JoinHostPort, BracketsIpv6Only) {
  EXPECT_EQ(join_host_port("broker", 1883), "broker:1883");
  EXPECT_EQ(join_host_port("127.0.0.1", 1), "127.0.0.1:1");
  EXPECT_EQ(join_host_port("::1", 65535), "[::1]:65535");
}

}  // namespace
}  // namespace sheaf
