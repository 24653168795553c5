// Servers' tables of their commands: which words are keys, and which commands only read.

#include "protocol/resp/command_table.h"

#include <gtest/gtest.h>

#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/live_commands.h"

namespace sheaf::protocol::resp {
namespace {

using WordList = std::vector<std::string_view>;

CommandTable table_of(std::string_view reply) {
  CommandTable table;
  protocol::Reply answer;
  answer.value = reply;
  const auto taken = table.on_reply(answer);
  EXPECT_TRUE(taken) << taken.error();
  return table;
}

// The keys "a b", preceded by "read " if the command only reads; or the error sentence.
std::string use_of(const CommandTable& table, const WordList& words) {
  CommandUse use{.keys = {"of the command before"}, .only_reads = true};
  if (const auto error = table.find(words, use)) return error->text;
  std::string text = use.only_reads ? "read" : "";
  for (const std::string_view key : use.keys) text.append(text.empty() ? "" : " ").append(key);
  return text;
}

TEST(RespCommandTable, KeysAreWhereRedisSays) {
  const CommandTable table = table_of(live::redis_commands);
  EXPECT_EQ(use_of(table, {"get", "k"}), "read k");
  EXPECT_EQ(use_of(table, {"SET", "k", "v", "PX", "1"}), "k");
  EXPECT_EQ(use_of(table, {"MSET", "a", "1", "b", "2"}), "a b");
  EXPECT_EQ(use_of(table, {"BITOP", "AND", "to", "x", "y"}), "to x y");
  EXPECT_EQ(use_of(table, {"Eval", "return 1", "2", "a", "b", "argument"}), "a b");
  EXPECT_EQ(use_of(table, {"XREAD", "COUNT", "1", "streams", "a", "b", "0", "0"}), "read a b");
  EXPECT_EQ(use_of(table, {"ZUNIONSTORE", "to", "2", "a", "b", "WEIGHTS", "1", "2"}), "to a b");
  EXPECT_EQ(use_of(table, {"GEORADIUS", "k", "1", "2", "3", "m"}), "k");
  EXPECT_EQ(use_of(table, {"GEORADIUS", "k", "1", "2", "3", "m", "STORE", "to"}), "k to");
  EXPECT_EQ(use_of(table, {"MIGRATE", "h", "1", "k", "0", "9"}), "k");
  EXPECT_EQ(use_of(table, {"MIGRATE", "h", "1", "", "0", "9", "KEYS", "a", "b"}), "a b");
  EXPECT_EQ(use_of(table, {"OBJECT", "ENCODING", "k"}), "read k");
  EXPECT_EQ(use_of(table, {"PING"}), "");
}

TEST(RespCommandTable, APlaceThatNobodyKnowsIsLeftToTheServer) {
  const CommandTable table = table_of(live::redis_commands);
  EXPECT_EQ(use_of(table, {"SORT", "k", "BY", "other*"}), "k");
}

TEST(RespCommandTable, MapsAndSetsOfRESP3SayTheSame) {
  const CommandTable table = table_of(live::redis_commands_resp3);
  EXPECT_EQ(use_of(table, {"GET", "k"}), "read k");
  EXPECT_EQ(use_of(table, {"EVAL", "return 1", "1", "a"}), "a");
  EXPECT_EQ(use_of(table, {"XREAD", "STREAMS", "a", "0"}), "read a");
  EXPECT_EQ(use_of(table, {"OBJECT", "freq", "k"}), "read k");
}

TEST(RespCommandTable, EntriesOfGarnetThatAreNothingAreLeftOut) {
  ASSERT_TRUE(live::garnet_commands.starts_with("*12\r\n*-1\r\n") ||
              live::garnet_commands.starts_with("*12\r\n$-1\r\n"));
  const CommandTable table = table_of(live::garnet_commands);
  EXPECT_EQ(use_of(table, {"GET", "k"}), "read k");
  EXPECT_EQ(use_of(table, {"mset", "a", "1", "b", "2"}), "a b");
  EXPECT_EQ(use_of(table, {"EVAL", "return 1", "1", "a"}), "a");
  EXPECT_EQ(use_of(table, {"GETWITHETAG", "k"}), "read k");
  EXPECT_EQ(use_of(table, {"MEMORY", "USAGE", "k"}), "read k");
}

TEST(RespCommandTable, ACommandWithTooFewWordsHasNoKeysAndItsServerSaysWhy) {
  const CommandTable table = table_of(live::redis_commands);
  for (const WordList& words :
       {WordList{"GET"}, WordList{"EVAL", "return 1"}, WordList{"XREAD", "STREAMS"},
        WordList{"EVAL", "return 1", "x", "a"}, WordList{"EVAL", "return 1", "-1"},
        WordList{"EVAL", "return 1", "9223372036854775807", "a"}, WordList{"EVAL", "return 1", "0"},
        WordList{"MIGRATE"}, WordList{"XREAD"}}) {
    EXPECT_TRUE(use_of(table, words) == "" || use_of(table, words) == "read") << words.front();
  }
  EXPECT_EQ(use_of(table, {"MSET", "a"}), "a");
}

TEST(RespCommandTable, WhatTheServersDoNotKnowNeedsItsKeysNamed) {
  const CommandTable table = table_of(live::redis_commands);
  EXPECT_EQ(use_of(table, {"gett", "k"}),
            "the servers know no command \"GETT\"; it can be sent if its keys or a node are named. "
            "Did you mean GET?");
  EXPECT_TRUE(use_of(table, {"OBJECT", "encodin", "k"}).ends_with("Did you mean OBJECT ENCODING?"));
  EXPECT_EQ(use_of(table, {"OBJECT", "shape", "k"}),
            "the servers know no command \"OBJECT SHAPE\"; it can be sent if its keys or a node "
            "are named");
  const std::string endless(100'000, 'x');
  EXPECT_LT(use_of(table, {endless}).size(), 300u);
}

// Replies as before Redis 7.
TEST(RespCommandTable, MovableKeysWithoutASpecificationNeedToBeNamed) {
  const CommandTable table = table_of(
      "*3\r\n*6\r\n$4\r\neval\r\n:-3\r\n*2\r\n+noscript\r\n+movablekeys\r\n:0\r\n:0\r\n:0\r\n"
      "*6\r\n$4\r\nsort\r\n:-2\r\n*2\r\n+write\r\n+movablekeys\r\n:1\r\n:1\r\n:1\r\n"
      "*6\r\n$3\r\ndel\r\n:-2\r\n*1\r\n+write\r\n:1\r\n:-1\r\n:1\r\n");
  EXPECT_EQ(use_of(table, {"EVAL", "return 1", "1", "a"}),
            "the servers do not report which arguments of EVAL are keys; name its keys");
  EXPECT_EQ(use_of(table, {"SORT", "k", "STORE", "to"}), "k");
  EXPECT_EQ(use_of(table, {"DEL", "a", "b", "c"}), "a b c");
}

TEST(RespCommandTable, EntriesThatCannotBeReadAreNoCommands) {
  const CommandTable table = table_of(
      "*5\r\n*0\r\n:3\r\n*6\r\n$1\r\na\r\n:1\r\n*0\r\n:99999999999\r\n:1\r\n:1\r\n"
      "*6\r\n$1\r\nb\r\n:1\r\n:0\r\n:1\r\n:1\r\n:1\r\n*6\r\n$1\r\nc\r\n:1\r\n*0\r\n:1\r\n:1\r\n:"
      "0\r\n");
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(use_of(table, {"c", "k"}), "k");
}

TEST(RespCommandTable, AnAnswerOfNoUseChangesNothing) {
  CommandTable table = table_of(live::redis_commands);
  protocol::Reply refused;
  refused.status = Status::refused;
  refused.text = "NOPERM no";
  EXPECT_EQ(table.on_reply(refused).error(), "NOPERM no");
  for (const std::string_view bytes :
       {"", "*0\r\n", "$3\r\nabc\r\n", "*1\r\n*-1\r\n", "*2\r\n+a\r\n"}) {
    protocol::Reply reply;
    reply.value = bytes;
    EXPECT_FALSE(table.on_reply(reply)) << bytes;
  }
  EXPECT_TRUE(table.known());
  EXPECT_EQ(use_of(table, {"GET", "k"}), "read k");
}

TEST(RespCommandTable, WhatASharedConnectionCannotCarryIsRefused) {
  const CommandTable table;
  EXPECT_FALSE(table.known());
  EXPECT_TRUE(table.refusal(WordList{"MULTI"}));
  EXPECT_TRUE(table.refusal(WordList{}));
  EXPECT_FALSE(table.refusal(WordList{"GET", "k"}));
}

}  // namespace
}  // namespace sheaf::protocol::resp
