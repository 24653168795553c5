// Commands on keys, word for word as redis-server 7.0.15 answers: one conversation with a live
// server, from start to end.

#include "tests/support/resp_model/data_commands.h"

#include <gtest/gtest.h>

#include "tests/resp_model/talk.h"

namespace sheaf::test::resp_model {
namespace {

struct Line {
  std::string_view command;
  std::string_view reply;
};

constexpr std::string_view not_integer = "-ERR value is not an integer or out of range\r\n";

constexpr Line conversation[] = {
    {"SET b 1", "+OK\r\n"},
    {"SET b 1 NX", "$-1\r\n"},
    {"SET b 1 XX", "+OK\r\n"},
    {"SET b 2 GET", "$1\r\n1\r\n"},
    {"SET b 3 NX GET", "$1\r\n2\r\n"},
    {"SET bx{b} 3 XX GET", "$-1\r\n"},
    {"SET b 1 PX 0", "-ERR invalid expire time in 'set' command\r\n"},
    {"SET b 1 EX -1", "-ERR invalid expire time in 'set' command\r\n"},
    {"SET b 1 PX x", not_integer},
    {"SET b 1 EX", "-ERR syntax error\r\n"},
    {"SET b 1 FOO", "-ERR syntax error\r\n"},
    {"SET b 1 NX XX", "-ERR syntax error\r\n"},
    {"SET b 1 PX 10 EX 10", "-ERR syntax error\r\n"},
    {"SET b 1 PX 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n"},
    {"SET b 1 KEEPTTL", "+OK\r\n"},
    {"GETEX b", "$1\r\n1\r\n"},
    {"GETEX b PX 100000", "$1\r\n1\r\n"},
    {"PTTL b", ":100000\r\n"},
    {"GETEX b PERSIST", "$1\r\n1\r\n"},
    {"PTTL b", ":-1\r\n"},
    {"PTTL nob{b}", ":-2\r\n"},
    {"GETEX nob{b}", "$-1\r\n"},
    {"GETEX b PX 0", "-ERR invalid expire time in 'getex' command\r\n"},
    {"GETEX b FOO", "-ERR syntax error\r\n"},
    {"PEXPIRE b 100000", ":1\r\n"},
    {"PEXPIRE nob{b} 1", ":0\r\n"},
    {"PEXPIRE b x", not_integer},
    {"PERSIST b", ":1\r\n"},
    {"PERSIST b", ":0\r\n"},
    {"PEXPIRE b -1", ":1\r\n"},
    {"EXISTS b", ":0\r\n"},
    {"SET b 5", "+OK\r\n"},
    {"INCRBY b 3", ":8\r\n"},
    {"INCRBY b x", not_integer},
    {"SET b abc", "+OK\r\n"},
    {"INCRBY b 1", not_integer},
    {"INCRBY cnt{b} 7", ":7\r\n"},
    {"APPEND b de", ":5\r\n"},
    {"APPEND app{b} xyz", ":3\r\n"},
    {"EXISTS b b nob{b}", ":2\r\n"},
    {"DEL b nob{b} app{b}", ":2\r\n"},
    {"GET b", "$-1\r\n"},
    {"MGET b cnt{b}", "*2\r\n$-1\r\n$1\r\n7\r\n"},
    {"SET b 9223372036854775807", "+OK\r\n"},
    {"INCRBY b 1", "-ERR increment or decrement would overflow\r\n"},
    {"PEXPIRE b 9223372036854775807", "-ERR invalid expire time in 'pexpire' command\r\n"},
    {"INCRBY b 99999999999999999999", not_integer},
    {"MGET", "-ERR wrong number of arguments for 'mget' command\r\n"},
    {"DEL", "-ERR wrong number of arguments for 'del' command\r\n"},
    {"SET b", "-ERR wrong number of arguments for 'set' command\r\n"},
    {"GETEX", "-ERR wrong number of arguments for 'getex' command\r\n"},
    {"get", "-ERR wrong number of arguments for 'get' command\r\n"},
    {"PING hello", "$5\r\nhello\r\n"},
    {"PING a b", "-ERR wrong number of arguments for 'ping' command\r\n"},
};

TEST(DataCommands, AreAnsweredAsByALiveServer) {
  Talk talk(1);
  for (const auto& [command, reply] : conversation) {
    EXPECT_EQ(talk.to(0, command), reply) << command;
  }
}

TEST(DataCommands, AKeyLivesExactlyAsLongAsItWasGiven) {
  Talk talk(1);
  talk.to(0, "SET k v PX 100");
  talk.pass(100ms - 1ns);
  EXPECT_EQ(talk.to(0, "GET k"), "$1\r\nv\r\n");
  EXPECT_EQ(talk.to(0, "PTTL k"), ":1\r\n");
  talk.pass(1ns);
  EXPECT_EQ(talk.to(0, "GET k"), "$-1\r\n");
  EXPECT_EQ(talk.to(0, "PTTL k"), ":-2\r\n");
  EXPECT_EQ(talk.to(0, "PEXPIRE k 5"), ":0\r\n");
  EXPECT_EQ(talk.to(0, "SET k w NX EX 1"), "+OK\r\n");
  talk.to(0, "SET k x KEEPTTL");
  talk.pass(999ms);
  EXPECT_EQ(talk.to(0, "GET k"), "$1\r\nx\r\n");
  talk.pass(1ms);
  EXPECT_EQ(talk.to(0, "DEL k"), ":0\r\n");
  talk.to(0, "SET k y PX 1");
  talk.to(0, "SET k y");
  talk.pass(1s);
  EXPECT_EQ(talk.to(0, "GET k"), "$1\r\ny\r\n");
}

TEST(DataCommands, NullsAndTextsHaveTheirFormsInRESP3) {
  Talk talk(1);
  talk.to(0, "HELLO 3");
  EXPECT_EQ(talk.to(0, "GET b"), "_\r\n");
  EXPECT_EQ(talk.to(0, "MGET b b"), "*2\r\n_\r\n_\r\n");
  EXPECT_EQ(talk.to(0, "INFO server"),
            "=56\r\ntxt:# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\n\r\n");
}

TEST(DataCommands, GarnetSendsGarbageToWhatTouchesADeadKey) {
  Talk talk(1, {.dialect = garnet()});
  talk.to(0, "HELLO 3");
  EXPECT_EQ(talk.to(0, "MGET b b"), "*2\r\n$-1\r\n$-1\r\n");
  EXPECT_EQ(talk.to(0, "PEXPIRE b 1"), ":0\r\n");
  talk.to(0, "SET b 1 PX 1");
  talk.pass(1ms);
  EXPECT_EQ(talk.to(0, "PEXPIRE b 1"), std::string(garnet_garbage, '\0'));
  EXPECT_EQ(talk.to(0, "PERSIST b"), std::string(garnet_garbage, '\0'));
  EXPECT_EQ(talk.to(0, "GETEX b PX 1"), "_\r\n");
}

}  // namespace
}  // namespace sheaf::test::resp_model
