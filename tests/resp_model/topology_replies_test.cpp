// The client's parsers read what model nodes say about the cluster, and all three replies give the
// same result.

#include <gtest/gtest.h>

#include "protocol/resp/cluster/topology_merge.h"
#include "protocol/resp/cluster/topology_view.h"
#include "protocol/resp/wire/reply_reader.h"
#include "tests/resp_model/talk.h"

namespace sheaf::test::resp_model {
namespace {

using protocol::resp::AnsweringNode;
using protocol::resp::TopologyView;

TopologyView parsed(std::string_view name, const std::string& bytes) {
  protocol::resp::ReplyReader reader;
  EXPECT_EQ(reader.read(bytes), protocol::resp::ReplyReader::Progress::complete) << bytes;
  EXPECT_EQ(reader.size(), bytes.size());
  const AnsweringNode from{.host = "127.0.0.1"};
  const auto view = name == "NODES"    ? parse_cluster_nodes(reader.root(), from)
                    : name == "SHARDS" ? parse_cluster_shards(reader.root(), from)
                                       : parse_cluster_slots(reader.root(), from);
  EXPECT_TRUE(view.has_value()) << view.error();
  return view.value_or(TopologyView{});
}

// The port of the server that claims a slot, or "-".
std::string claimant(const TopologyView& view, Slot slot) {
  for (const auto& claim : view.claims) {
    if (claim.first <= slot && slot <= claim.last) {
      return std::to_string(view.nodes[claim.node].port);
    }
  }
  return "-";
}

struct Kind {
  bool of_garnet = false;
  int protocol = 2;
};

class TopologyReplies : public testing::TestWithParam<Kind> {
 protected:
  TopologyReplies() : talk(3, {.dialect = GetParam().of_garnet ? garnet() : Dialect{}}) {
    talk.cluster.add_replica(0, {"127.0.0.1", 17'414}, talk.now);
    talk.cluster.settle(talk.now);
    for (NodeNumber node = 0; node < 4; ++node) {
      talk.to(node, "HELLO " + std::to_string(GetParam().protocol));
    }
  }
  TopologyView view(NodeNumber node, std::string_view name) {
    return parsed(name, talk.to(node, "CLUSTER " + std::string(name)));
  }
  Talk talk;
};

TEST_P(TopologyReplies, AllThreeSayTheSame) {
  talk.cluster.set_owner(949, 1, 1, talk.now);
  talk.cluster.settle(talk.now);
  for (const std::string_view name : {"NODES", "SHARDS", "SLOTS"}) {
    for (NodeNumber node = 0; node < 4; ++node) {
      const TopologyView seen = view(node, name);
      EXPECT_EQ(seen.nodes.size(), 4u) << name;
      EXPECT_EQ(seen.has_epochs, name == "NODES");
      EXPECT_EQ(claimant(seen, 948), "17411") << name;
      EXPECT_EQ(claimant(seen, 949), "17412") << name;
      EXPECT_EQ(claimant(seen, 950), "17411") << name;
      EXPECT_EQ(claimant(seen, 16'383), "17413") << name;
      for (const auto& listed : seen.nodes) {
        const bool replica = listed.port == 17'414;
        EXPECT_EQ(listed.role == protocol::resp::Role::replica, replica) << name;
        EXPECT_EQ(listed.primary, replica ? talk.id(0) : "") << name;
      }
    }
  }
}

TEST_P(TopologyReplies, NodesHasEpochsAndTheOwnMigrations) {
  talk.cluster.set_importing(949, 1, 0);
  talk.cluster.set_migrating(949, 0, 1);
  const TopologyView source = view(0, "NODES");
  ASSERT_EQ(source.migrations.size(), 1u);
  EXPECT_EQ(source.migrations[0].slot, 949);
  EXPECT_FALSE(source.migrations[0].importing);
  EXPECT_EQ(source.migrations[0].peer, talk.id(1));
  const TopologyView target = view(1, "NODES");
  ASSERT_EQ(target.migrations.size(), 1u);
  EXPECT_TRUE(target.migrations[0].importing);
  EXPECT_TRUE(view(2, "NODES").migrations.empty());
  EXPECT_EQ(claimant(target, 949), "17411");
  for (const auto& listed : source.nodes) {
    EXPECT_EQ(listed.answering, listed.port == 17'411);
    if (listed.role == protocol::resp::Role::primary) {
      EXPECT_EQ(listed.epoch, listed.port - 17'410u);
    }
  }
}

TEST_P(TopologyReplies, ViewsOfNodesThatDisagreeMergeToTheNewest) {
  talk.cluster.set_owner(949, 1, 1, talk.now);  // no other node has learned of this
  EXPECT_EQ(claimant(view(0, "NODES"), 949), "17411");
  EXPECT_EQ(claimant(view(2, "NODES"), 949), "17411");
  EXPECT_EQ(claimant(view(1, "NODES"), 949), "17412");
  EXPECT_EQ(talk.cluster.log().fetches(), 3u);
  EXPECT_EQ(talk.cluster.log().fetches_from(1), 1u);
}

INSTANTIATE_TEST_SUITE_P(Servers, TopologyReplies,
                         testing::Values(Kind{false, 2}, Kind{false, 3}, Kind{true, 2},
                                         Kind{true, 3}),
                         [](const auto& tested) {
                           return std::string(tested.param.of_garnet ? "Garnet" : "Redis") +
                                  "InRESP" + std::to_string(tested.param.protocol);
                         });

// Byte for byte as on a live server, except for the times of pings.
TEST(ClusterNodes, HasOneLineForEachNode) {
  Talk talk(2);
  const std::string lines = talk.id(0) +
                            " 127.0.0.1:17411@27411 myself,master - 0 0 1 connected "
                            "0-8191 [949->-" +
                            talk.id(1) + "]\n" + talk.id(1) +
                            " 127.0.0.1:17412@27412 master - 0 0 2 connected "
                            "8192-16383\n";
  talk.cluster.set_migrating(949, 0, 1);
  EXPECT_EQ(talk.to(0, "CLUSTER NODES"),
            "$" + std::to_string(lines.size()) + "\r\n" + lines + "\r\n");
}

TEST(ClusterCommands, SmallQuestionsAreAnsweredAsByALiveServer) {
  Talk talk(3);
  EXPECT_EQ(talk.to(0, "CLUSTER KEYSLOT foo"), ":12182\r\n");
  EXPECT_EQ(talk.to(0, "CLUSTER MYID"), "$40\r\n" + talk.id(0) + "\r\n");
  EXPECT_EQ(talk.to(0, "CLUSTER"), "-ERR wrong number of arguments for 'cluster' command\r\n");
  EXPECT_EQ(talk.to(0, "CLUSTER FOO"), "-ERR unknown subcommand 'FOO'. Try CLUSTER HELP.\r\n");
  EXPECT_EQ(talk.to(0, "CLUSTER KEYSLOT"),
            "-ERR wrong number of arguments for 'cluster|keyslot' command\r\n");
  talk.to(0, "SET wxz 1");
  EXPECT_EQ(talk.to(0, "CLUSTER COUNTKEYSINSLOT 949"), ":1\r\n");
  const std::string info = talk.to(0, "CLUSTER INFO");
  EXPECT_NE(info.find("cluster_slots_assigned:16384\r\n"), std::string::npos);
  EXPECT_NE(info.find("cluster_known_nodes:3\r\n"), std::string::npos);
}

}  // namespace
}  // namespace sheaf::test::resp_model
