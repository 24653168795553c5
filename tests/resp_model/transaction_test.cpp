// Transactions of a model node, as Garnet has them.

#include <gtest/gtest.h>

#include "tests/resp_model/talk.h"

namespace sheaf::test::resp_model {
namespace {

ClusterOptions of_garnet() {
  ClusterOptions options;
  options.dialect = garnet();
  return options;
}

class Transactions : public testing::Test {
 protected:
  std::string execute(NodeNumber node, const std::string& of_key) {
    EXPECT_EQ(talk.to(node, "MULTI"), "+OK\r\n");
    EXPECT_EQ(talk.to(node, "SET " + of_key + " new"), "+QUEUED\r\n");
    return talk.to(node, "EXEC");
  }
  Talk talk{3, of_garnet()};
  const std::string key = talk.key_of(0);
  const Slot slot = protocol::resp::hash_slot(key);
};

TEST_F(Transactions, AreCarriedOutUnlessAWatchedKeyHoldsAnotherValue) {
  EXPECT_EQ(talk.to(0, "WATCH " + key), "+OK\r\n");
  EXPECT_EQ(execute(0, key), "*1\r\n+OK\r\n");
  EXPECT_EQ(talk.to(0, "WATCH " + key), "+OK\r\n");
  EXPECT_EQ(talk.to(0, "SET " + key + " other"), "+OK\r\n");
  EXPECT_EQ(execute(0, key), "$-1\r\n");
  EXPECT_EQ(talk.to(0, "GET " + key), "$5\r\nother\r\n");
  EXPECT_EQ(execute(0, key), "*1\r\n+OK\r\n") << "EXEC forgets what is watched";
  EXPECT_EQ(talk.to(0, "EXEC"), "-ERR EXEC without MULTI\r\n");
}

TEST_F(Transactions, ThatAreDiscardedWriteNothingAndForgetWhatIsWatched) {
  EXPECT_EQ(talk.to(0, "DISCARD"), "-ERR DISCARD without MULTI\r\n");
  EXPECT_EQ(talk.to(0, "WATCH " + key), "+OK\r\n");
  EXPECT_EQ(talk.to(0, "MULTI"), "+OK\r\n");
  EXPECT_EQ(talk.to(0, "SET " + key + " new"), "+QUEUED\r\n");
  EXPECT_EQ(talk.to(0, "DISCARD"), "+OK\r\n");
  EXPECT_EQ(talk.to(0, "GET " + key), "$-1\r\n");
  EXPECT_EQ(talk.to(0, "SET " + key + " other"), "+OK\r\n");
  EXPECT_EQ(execute(0, key), "*1\r\n+OK\r\n");
}

TEST_F(Transactions, AreSentElsewhereByTheReplyToExec) {
  EXPECT_EQ(execute(1, key), "-MOVED " + std::to_string(slot) + " 127.0.0.1:17411\r\n");
  talk.cluster.set_importing(slot, 1, 0);
  talk.cluster.set_migrating(slot, 0, 1);
  EXPECT_EQ(execute(0, key), "-ASK " + std::to_string(slot) + " 127.0.0.1:17412\r\n");
  EXPECT_EQ(talk.to(1, "ASKING"), "+OK\r\n");
  EXPECT_EQ(execute(1, key), "-MOVED " + std::to_string(slot) + " 127.0.0.1:17411\r\n");
}

TEST_F(Transactions, WatchIsForKeysThatAreServedHere) {
  EXPECT_EQ(talk.to(1, "WATCH " + key), "-MOVED " + std::to_string(slot) + " 127.0.0.1:17411\r\n");
}

TEST(RedisTransactions, AreNotInTheModel) {
  Talk talk(1);
  EXPECT_TRUE(talk.to(0, "MULTI").starts_with("-ERR unknown command"));
}

}  // namespace
}  // namespace sheaf::test::resp_model
