// Replies to commands as users get them.

#include "protocol/resp/wire/command_reply.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sheaf::protocol::resp {
namespace {

using Kind = CommandReply::Kind;

CommandReply reply_of(std::string_view bytes) {
  auto reply = read_command_reply(bytes);
  EXPECT_TRUE(reply) << bytes;
  return reply.value_or(CommandReply());
}

TEST(RespCommandReply, EveryKindIsNothingButItself) {
  const struct {
    std::string_view bytes;
    Kind kind;
  } cases[] = {{"_\r\n", Kind::null},
               {"$-1\r\n", Kind::null},
               {"*-1\r\n", Kind::null},
               {":-7\r\n", Kind::number},
               {",0.5\r\n", Kind::real},
               {"#t\r\n", Kind::boolean},
               {"(123\r\n", Kind::big_number},
               {"$3\r\n123\r\n", Kind::text},
               {"=7\r\ntxt:abc\r\n", Kind::verbatim},
               {"+OK\r\n", Kind::status},
               {"-ERR no\r\n", Kind::error},
               {"!6\r\nERR no\r\n", Kind::error},
               {"*1\r\n:1\r\n", Kind::array},
               {"~1\r\n:1\r\n", Kind::set},
               {"%1\r\n:1\r\n:2\r\n", Kind::map}};
  for (const auto& one : cases) {
    const CommandReply reply = reply_of(one.bytes);
    EXPECT_EQ(reply.kind(), one.kind) << one.bytes;
    EXPECT_EQ(reply.is_null(), one.kind == Kind::null);
    EXPECT_EQ(reply.number().has_value(), one.kind == Kind::number);
    EXPECT_EQ(reply.real().has_value(), one.kind == Kind::real);
    EXPECT_EQ(reply.boolean().has_value(), one.kind == Kind::boolean);
    EXPECT_EQ(reply.error().has_value(), one.kind == Kind::error);
    const bool has_text = one.kind == Kind::big_number || one.kind == Kind::text ||
                          one.kind == Kind::verbatim || one.kind == Kind::status;
    EXPECT_EQ(reply.text().has_value(), has_text) << one.bytes;
    EXPECT_EQ(reply.size() > 0, one.kind >= Kind::array) << one.bytes;
    EXPECT_EQ(reply.begin() == reply.end(), one.kind < Kind::array) << one.bytes;
  }
}

TEST(RespCommandReply, ValuesAreWhatTheServerSaid) {
  EXPECT_EQ(reply_of(":-7\r\n").number(), -7);
  EXPECT_EQ(reply_of(",0.5\r\n").real(), 0.5);
  EXPECT_TRUE(std::isinf(*reply_of(",-inf\r\n").real()));
  EXPECT_EQ(reply_of("#f\r\n").boolean(), false);
  EXPECT_EQ(reply_of("(-12345678901234567890123\r\n").text(), "-12345678901234567890123");
  EXPECT_EQ(reply_of("=7\r\ntxt:abc\r\n").text(), "abc");
  EXPECT_EQ(reply_of("$4\r\n\r\n-E\r\n").text(), "\r\n-E") << "bytes are not looked into";
  EXPECT_EQ(reply_of("-WRONGTYPE no\r\n").error(), "WRONGTYPE no");
}

TEST(RespCommandReply, AnAggregateIsWalkedByIndexByLoopAndByName) {
  const CommandReply reply =
      reply_of("*3\r\n%2\r\n+a\r\n*2\r\n:1\r\n:2\r\n$1\r\nb\r\n_\r\n*0\r\n-ERR x\r\n");
  ASSERT_EQ(reply.size(), 3u);
  EXPECT_EQ(reply[0].size(), 4u) << "keys and values";
  EXPECT_EQ(reply[0].find("a")->size(), 2u);
  EXPECT_EQ((*reply[0].find("a"))[1].number(), 2);
  EXPECT_TRUE(reply[0].find("b")->is_null());
  EXPECT_FALSE(reply[0].find("c"));
  EXPECT_EQ(reply[1].size(), 0u);
  EXPECT_EQ(reply[1].begin(), reply[1].end());
  EXPECT_EQ(reply[2].error(), "ERR x") << "in the place of a value, and no text";
  EXPECT_TRUE(reply[3].is_null());
  std::vector<Kind> kinds;
  for (const CommandReply value : reply) kinds.push_back(value.kind());
  EXPECT_EQ(kinds, (std::vector{Kind::map, Kind::array, Kind::error}));
}

TEST(RespCommandReply, PartsOutliveTheReplyAndTheBytes) {
  CommandReply part;
  {
    std::string bytes = "*1\r\n$5\r\nhello\r\n";
    part = reply_of(bytes)[0];
    bytes.assign(bytes.size(), 'x');
  }
  EXPECT_EQ(part.text(), "hello");
}

TEST(RespCommandReply, BytesThatAreNotOneReplyAreNone) {
  for (const std::string_view bytes : {"", ":1", ":1\r\n:2\r\n", "\0", "*2\r\n:1\r\n", "x\r\n"}) {
    EXPECT_FALSE(read_command_reply(bytes)) << bytes;
  }
}

TEST(RespCommandReply, ADefaultOneIsNull) {
  const CommandReply reply;
  EXPECT_TRUE(reply.is_null());
  EXPECT_EQ(reply.begin(), reply.end());
  EXPECT_FALSE(reply.text());
  EXPECT_EQ(to_string(reply.kind()), "null");
  EXPECT_EQ(to_string(Kind::map), "map");
}

}  // namespace
}  // namespace sheaf::protocol::resp
