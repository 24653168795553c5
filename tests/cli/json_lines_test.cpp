#include "cli/show/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/show/tab_lines.h"

namespace sheaf::cli {
namespace {

using testing::HasSubstr;

Value value_of(std::string data, std::string version = "") {
  return {.data = std::move(data), .version = {std::move(version)}, .flags = 0};
}

TEST(CliJsonLines, AValueIsPlainTextWhenItIsUtf8) {
  EXPECT_EQ(json_value("k", value_of("v")), R"({"key":"k","value":"v"})");
  EXPECT_EQ(json_value("k", value_of("")), R"({"key":"k","value":""})");
  EXPECT_EQ(json_value("caf\xc3\xa9", value_of("\xe2\x82\xac")),
            "{\"key\":\"caf\xc3\xa9\",\"value\":\"\xe2\x82\xac\"}");
}

TEST(CliJsonLines, BytesThatAreNotUtf8TravelAsBase64) {
  EXPECT_EQ(json_value("\xff", value_of("\xfe\xff")),
            R"({"key_base64":"/w==","value_base64":"/v8="})");
  EXPECT_EQ(json_value("k", value_of("\xed\xa0\x80")), R"({"key":"k","value_base64":"7aCA"})");
}

TEST(CliJsonLines, OneLineStaysOneLine) {
  const std::string line = json_value("a\nb", value_of(std::string("\r\n\0\x1b\"\\", 6)));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = parse_json_line(line);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(back->key, "a\nb");
  EXPECT_EQ(back->value, std::string("\r\n\0\x1b\"\\", 6));
}

TEST(CliJsonLines, AnAbsentKeyIsNull) {
  EXPECT_EQ(json_value("k", std::nullopt), R"({"key":"k","value":null})");
}

TEST(CliJsonLines, AFailedKeyCarriesItsSentence) {
  const Error down{Outcome::not_sent, Reason::node_down, "b1:1883", {}, ""};
  EXPECT_EQ(json_error("k", down),
            R"({"key":"k","error":{"outcome":"not sent","reason":"node down",)"
            R"("node":"b1:1883","text":"not sent: node down at b1:1883"}})");
  const Error wrong{Outcome::invalid, Reason::bad_argument, "", {}, "the key is empty"};
  EXPECT_EQ(json_failure(wrong), R"({"error":{"outcome":"invalid","reason":"bad argument",)"
                                 R"("text":"the key is empty"}})");
  const Error said{Outcome::refused, Reason::other, "b", {}, "server said \xff"};
  EXPECT_THAT(json_error("k", said), HasSubstr("server said \\\\xFF"));
  EXPECT_THAT(json_error("k", said), HasSubstr(R"("reason":"other")"));
}

TEST(CliJsonLines, OtherAnswersNameTheirFields) {
  EXPECT_EQ(json_value_and_version("k", value_of("v", "1:0:S")),
            R"({"key":"k","value":"v","version":"1:0:S"})");
  EXPECT_EQ(json_value_and_version("k", value_of("v")), R"({"key":"k","value":"v"})");
  EXPECT_EQ(json_stored("k", {.stored = true, .version = {"1:0:S"}}),
            R"({"key":"k","stored":true,"version":"1:0:S"})");
  EXPECT_EQ(json_stored("k", {.stored = false, .version = {}}), R"({"key":"k","stored":false})");
  EXPECT_EQ(json_removed("k", {RemoveResult::removed, {"1:0:S"}}),
            R"({"key":"k","removed":true,"version":"1:0:S"})");
  EXPECT_EQ(json_removed("k", {RemoveResult::removed}), R"({"key":"k","removed":true})");
  EXPECT_EQ(json_removed("k", {RemoveResult::absent}),
            R"({"key":"k","removed":false,"reason":"absent"})");
  EXPECT_EQ(json_removed("k", {RemoveResult::value_differs}),
            R"({"key":"k","removed":false,"reason":"value differs"})");
  EXPECT_EQ(
      json_location("{t}k", {.node = "b1:1883", .slot = 7, .routing_key = "t", .reason = "R."}),
      R"({"key":"{t}k","node":"b1:1883","slot":7,"routing_key":"t","reason":"R."})");
  EXPECT_EQ(json_share({.node = "b1:1883", .weight = 2, .share = 0.5, .keys = 10}),
            R"({"node":"b1:1883","weight":2,"share":0.5,"keys":10})");
  EXPECT_EQ(json_brokers("mqtt://h:1", "brokers", {{"h:1", 42}}),
            R"({"uri":"mqtt://h:1","brokers":[{"node":"h:1","pid":42}]})");
  EXPECT_EQ(json_number("k", 18446744073709551615u),
            R"({"key":"k","number":18446744073709551615})");
  EXPECT_EQ(json_number("k", std::nullopt), R"({"key":"k","number":null})");
  EXPECT_EQ(json_done("k", "touched", false), R"({"key":"k","touched":false})");
  EXPECT_EQ(json_stats("h:1", "a 1\nb two words\nc\n"),
            R"({"node":"h:1","stats":{"a":"1","b":"two words","c":""}})");
  const Error wrong{Outcome::invalid, Reason::bad_argument, "", {}, "S"};
  EXPECT_EQ(json_node_error("h:1", wrong),
            R"({"node":"h:1","error":{"outcome":"invalid","reason":"bad argument","text":"S"}})");
}

TEST(CliJsonLines, EventsOfAWatchHaveValueVersionAndTimes) {
  WatchEvent event;
  event.kind = WatchEvent::Kind::set;
  event.key = "k";
  event.value = "v\xFF";
  event.version.text = "1:0:s";
  EXPECT_EQ(json_event(event),
            R"({"event":"set","key":"k","value_base64":"dv8=","version":"1:0:s"})");
  event = {};
  event.key = "k";
  EXPECT_EQ(json_event(event), R"({"event":"current","key":"k","value":null,"version":null})");
  event.kind = WatchEvent::Kind::gap;
  event.from = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'007));
  event.until = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'001'000));
  EXPECT_EQ(json_event(event), R"({"event":"gap","key":"k","from":"2023-11-14T22:13:20.007Z",)"
                               R"("until":"2023-11-14T22:13:21.000Z"})");
}

TEST(CliJsonLines, ANodeThatDidNotAnswerHasNulls) {
  NodeReport report;
  report.stats.node = "b1:1883";
  report.stats.health = NodeHealth::up;
  report.stats.connections = 1;
  report.round_trip = std::chrono::microseconds(1500);
  report.clock_difference = std::chrono::milliseconds(-20);
  EXPECT_EQ(json_report(report),
            R"({"node":"b1:1883","weight":1,"health":"up","round_trip_ms":1.5,"connections":1,)"
            R"("clock_difference_ms":-20})");
  report.stats.tls = "TLSv1.3 X";
  EXPECT_THAT(json_report(report), HasSubstr(R"("connections":1,"tls":"TLSv1.3 X",)"));
  EXPECT_THAT(json_report(report), Not(HasSubstr("certificate_end")));
  report.stats.certificate_end =
      std::chrono::system_clock::time_point(std::chrono::seconds(1'798'761'600));
  report.stats.own_certificate_end = *report.stats.certificate_end + std::chrono::hours(1);
  report.stats.user = "line \"4\"";
  EXPECT_THAT(json_report(report), HasSubstr(R"("certificate_end":"2027-01-01T00:00:00.000Z",)"
                                             R"("own_certificate_end":"2027-01-01T01:00:00.000Z",)"
                                             R"("user":"line \"4\"",)"));
  report.round_trip.reset();
  report.clock_difference.reset();
  report.error = Error();
  report.error->node = "b1:1883";
  EXPECT_THAT(json_report(report), HasSubstr(R"("round_trip_ms":null)"));
  EXPECT_THAT(json_report(report), HasSubstr(R"("error":{"outcome":")"));
  EXPECT_THAT(json_report(report), Not(HasSubstr("settings")));
  EXPECT_THAT(json_report(report, "SHEAF_CONFIG"), HasSubstr(R"("settings":"SHEAF_CONFIG"})"));
}

TEST(CliJsonLines, AWriteLineHasAKeyAndAValueInEitherSpelling) {
  const auto plain = parse_json_line(R"({"key":"k","value":"v\u0000\n"})");
  ASSERT_TRUE(plain) << plain.error();
  EXPECT_EQ(plain->key, "k");
  EXPECT_EQ(plain->value, std::string("v\0\n", 3));
  const auto encoded = parse_json_line(R"( {"value_base64":"AP8=","key_base64":"/w=="} )");
  ASSERT_TRUE(encoded) << encoded.error();
  EXPECT_EQ(encoded->key, "\xff");
  EXPECT_EQ(encoded->value, std::string("\0\xff", 2));
  EXPECT_TRUE(parse_json_line(R"({"key":"k","value":"v","version":"1:0:S"})"));
}

TEST(CliJsonLines, EveryOtherLineIsRefusedWithItsReason) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"", "not JSON"},
      {"key\tvalue", "not JSON"},
      {R"({"key":"k","value":"v"} x)", "not JSON"},
      {"{\"key\":\"k\",\"value\":\"\xff\"}", "not JSON"},
      {R"({"key":"k","value":"\ud800"})", "not JSON"},
      {R"(["k","v"])", "not a JSON object"},
      {R"("k")", "not a JSON object"},
      {R"({"key":"k"})", "no value"},
      {R"({"value":"v"})", "no key"},
      {R"({"key":"k","value":null})", "null"},
      {R"({"key":"k","error":"down"})", "error"},
      {R"({"key":"k","value":"v","error":"down"})", "error"},
      {R"({"key":1,"value":"v"})", "not a string"},
      {R"({"key":"k","value":{"a":1}})", "not a string"},
      {R"({"key":"k","value":["key","key"]})", "not a string"},
      {R"({"key":"k","value":"v","value_base64":"dg=="})", "both"},
      {R"({"key":"k","key_base64":"aw==","value":"v"})", "both"},
      {R"({"key":"k","value_base64":"dg="})", "base64"},
      {R"({"key":"k","value_base64":7})", "base64"},
      {R"({"key":"k","value":"v","ttl":1})", "unknown field ttl"},
      {R"({"key":"k","value":"v","key":"j"})", "twice"},
  };
  for (const auto& [line, reason] : lines) {
    const auto item = parse_json_line(line);
    ASSERT_FALSE(item) << line;
    EXPECT_THAT(item.error(), HasSubstr(reason)) << line;
  }
}

TEST(CliJsonLines, NestingDeeperThanAnyStackIsJustNotAnObjectOfOurs) {
  const std::string deep = R"({"key":)" + std::string(200'000, '[');
  EXPECT_FALSE(parse_json_line(deep));
}

TEST(CliTabLines, AKeyEndsAtTheFirstTab) {
  const auto item = parse_tab_line("{a}key\tvalue\twith a tab\r");
  ASSERT_TRUE(item) << item.error();
  EXPECT_EQ(item->key, "{a}key");
  EXPECT_EQ(item->value, "value\twith a tab\r");
  EXPECT_EQ(parse_tab_line("key\t")->value, "");
  EXPECT_EQ(parse_tab_line("\tvalue")->key, "");
  EXPECT_EQ(parse_tab_line("key value").error(), "has no tab between key and value");
}

TEST(CliTabLines, TheFirstLineDecidesTheForm) {
  EXPECT_EQ(form_of_line("key\tvalue"), LineForm::tab);
  EXPECT_EQ(form_of_line("{press7}count\t17"), LineForm::tab);
  EXPECT_EQ(form_of_line("{\"a\"}\t{\"b\":1}"), LineForm::tab);
  EXPECT_EQ(form_of_line(json_value("a\tb", value_of("c\td"))), LineForm::json);
  EXPECT_EQ(form_of_line("nonsense"), LineForm::json);
  EXPECT_EQ(form_of_line("{\"key\":\"a\",\t\"value\":\"b\"}").error(),
            "is JSON that contains a tab; use --json to read it as JSON");
}

}  // namespace
}  // namespace sheaf::cli
