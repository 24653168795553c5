// The reply to a command, as text and as JSON.

#include "cli/show/reply_text.h"

#include <gtest/gtest.h>

#include "cli/show/json_lines.h"
#include "protocol/resp/wire/command_reply.h"

namespace sheaf::cli {
namespace {

struct Printed {
  std::string text;
  std::string json;
  friend bool operator==(const Printed&, const Printed&) = default;
  friend void PrintTo(const Printed& printed, std::ostream* out) {
    *out << printed.text << " and " << printed.json;
  }
};

Printed print(std::string_view bytes) {
  const auto reply = protocol::resp::read_command_reply(bytes);
  EXPECT_TRUE(reply) << bytes;
  return {reply_text(*reply), json_reply(*reply)};
}

TEST(CliReply, SingleValues) {
  EXPECT_EQ(print("+OK\r\n"), (Printed{"OK", R"({"reply":"OK"})"}));
  EXPECT_EQ(print("_\r\n"), (Printed{"", R"({"reply":null})"}));
  EXPECT_EQ(print(":-7\r\n"), (Printed{"-7", R"({"reply":-7})"}));
  EXPECT_EQ(print(",1.5\r\n"), (Printed{"1.5", R"({"reply":1.5})"}));
  EXPECT_EQ(print(",-inf\r\n"), (Printed{"-inf", R"({"reply":"-inf"})"}));
  EXPECT_EQ(print("#t\r\n"), (Printed{"(true)", R"({"reply":true})"}));
  EXPECT_EQ(print("(123456789012345678901\r\n"),
            (Printed{"123456789012345678901", R"({"reply":"123456789012345678901"})"}));
  EXPECT_EQ(print("=7\r\ntxt:abc\r\n"), (Printed{"abc", R"({"reply":"abc"})"}));
  EXPECT_EQ(print("$1\r\n\xff\r\n"), (Printed{"\xff", R"({"reply":{"base64":"/w=="}})"}));
}

TEST(CliReply, EachValueInsideOthersHasALine) {
  EXPECT_EQ(print("*0\r\n"), (Printed{"", R"({"reply":[]})"}));
  EXPECT_EQ(print("*3\r\n$1\r\na\r\n_\r\n*2\r\n:1\r\n-ERR x\r\n"),
            (Printed{"a\n\n1\nERR x", R"({"reply":["a",null,[1,{"error":"ERR x"}]]})"}));
}

TEST(CliReply, AMapIsAnObjectIfItsKeysAreDistinctTexts) {
  EXPECT_EQ(print("%2\r\n+b\r\n:1\r\n+a\r\n:2\r\n"),
            (Printed{"b\n1\na\n2", R"({"reply":{"b":1,"a":2}})"}));
  EXPECT_EQ(print("%2\r\n+a\r\n:1\r\n+a\r\n:2\r\n").json, R"({"reply":[["a",1],["a",2]]})");
  EXPECT_EQ(print("%1\r\n:1\r\n:2\r\n").json, R"({"reply":[[1,2]]})");
}

}  // namespace
}  // namespace sheaf::cli
