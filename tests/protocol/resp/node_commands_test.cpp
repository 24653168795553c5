// Which commands without keys are those of one node.

#include "protocol/resp/node_commands.h"

#include <gtest/gtest.h>

#include <vector>

namespace sheaf::protocol::resp {
namespace {

using Line = std::vector<std::string_view>;

TEST(NodeCommands, HaveTheEffectOrTheAnswerOfOneNode) {
  for (const std::string_view name :
       {"FLUSHALL", "FLUSHDB",  "DBSIZE",       "KEYS",    "SCAN",    "RANDOMKEY", "SAVE",
        "BGSAVE",   "LASTSAVE", "INFO",         "SLOWLOG", "LATENCY", "CLIENT",    "SCRIPT",
        "FUNCTION", "CONFIG",   "PUBSUB",       "MODULE",  "DEBUG",   "SHUTDOWN",  "REPLICAOF",
        "ROLE",     "SWAPDB",   "BGREWRITEAOF", "FAILOVER"}) {
    EXPECT_EQ(command_of_each_node(Line{name}), name);
    EXPECT_EQ(command_of_each_node(Line{name, "x", "y"}), name);
  }
  EXPECT_EQ(command_of_each_node(Line{"flushAll", "async"}), "FLUSHALL");
  EXPECT_EQ(command_of_each_node(Line{"config", "set", "maxmemory", "1gb"}), "CONFIG");
  EXPECT_EQ(command_of_each_node(Line{"script", "load", "return 1"}), "SCRIPT");
}

TEST(NodeCommands, AreSomeSubcommandsOfOthers) {
  EXPECT_EQ(command_of_each_node(Line{"memory", "purge"}), "MEMORY PURGE");
  EXPECT_EQ(command_of_each_node(Line{"MEMORY", "USAGE", "key"}), "") << "it has a key";
  EXPECT_EQ(command_of_each_node(Line{"ACL", "SETUSER", "ann"}), "ACL SETUSER");
  EXPECT_EQ(command_of_each_node(Line{"ACL", "WHOAMI"}), "");
  EXPECT_EQ(command_of_each_node(Line{"CLUSTER", "COUNTKEYSINSLOT", "7"}),
            "CLUSTER COUNTKEYSINSLOT");
  EXPECT_EQ(command_of_each_node(Line{"CLUSTER", "INFO"}), "");
}

TEST(NodeCommands, AreNotThoseThatAnyNodeAnswersAlike) {
  for (const Line& words : {Line{}, Line{""}, Line{"PING"}, Line{"ECHO", "KEYS"}, Line{"TIME"},
                            Line{"COMMAND"}, Line{"PUBLISH", "news", "x"}, Line{"GET", "FLUSHALL"},
                            Line{"EVAL", "return 1", "0"}, Line{"MEMORY"}, Line{"CONFIG", "help"},
                            Line{"CLIENT", "HELP"}, Line{"FLUSH"}, Line{"FLUSHALL2"}}) {
    EXPECT_EQ(command_of_each_node(words), "") << testing::PrintToString(words);
  }
  EXPECT_EQ(command_of_each_node(Line{"KEYS", "HELP"}), "KEYS") << "that is a pattern";
}

}  // namespace
}  // namespace sheaf::protocol::resp
