// The map of a cluster: which question it asks next, and what it takes from the answers.

#include "protocol/resp/cluster/cluster_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/protocol/resp/live_replies.h"

namespace sheaf::protocol::resp {
namespace {

const std::vector<NodeConfig> three{{"a", 1}, {"b", 1}, {"c", 1}};

protocol::Reply done(std::string_view value) {
  protocol::Reply reply;
  reply.value = value;
  return reply;
}
protocol::Reply refused(std::string_view text) {
  protocol::Reply reply;
  reply.status = Status::refused;
  reply.text = text;
  return reply;
}

class RespClusterMap : public testing::Test {
 protected:
  // Returns the fault in the answer; empty if there is none. A map that takes only half of it may
  // not know which hosts users should see.
  static std::string give(ClusterMap& map, const protocol::Reply& reply, std::uint64_t asked = 1) {
    auto taken = map.on_reply(reply, {.host = "127.0.0.1", .asked = asked});
    if (taken && *taken == ServerMap::Taken::half) {
      taken = map.on_reply(refused("NOPERM no CLUSTER SLOTS"), {.host = "127.0.0.1"});
    }
    return taken ? "" : taken.error().text;
  }
  // Where the map reaches a server; empty if there, or unknown.
  static std::string called(const ClusterMap& map, std::string_view name, std::uint16_t port) {
    const auto server = map.server_called(name, port);
    return server ? server->identity() : "";
  }
  static std::string asks(const ClusterMap& map) { return std::string(map.question()[1]); }
  static std::string owner(const ClusterMap& map, std::uint16_t slot) {
    const std::uint16_t position = map.owners()[slot];
    return position == ServerMap::unassigned ? "nobody" : map.servers()[position].identity();
  }
};

TEST_F(RespClusterMap, EveryFormOfTheReplyMakesTheSameMap) {
  const struct {
    int refusals;
    std::string_view reply;
  } forms[] = {{0, live::redis_nodes},  {0, live::redis_nodes_resp3},
               {1, live::redis_shards}, {1, live::redis_shards_resp3},
               {2, live::redis_slots},  {2, live::redis_slots_resp3}};
  for (const auto& form : forms) {
    ClusterMap map(three);
    EXPECT_FALSE(map.known());
    EXPECT_EQ(owner(map, 0), "nobody");
    for (int i = 0; i < form.refusals; ++i) give(map, refused("ERR unknown subcommand"));
    EXPECT_EQ(give(map, done(form.reply)), "") << form.reply;
    EXPECT_TRUE(map.known());
    EXPECT_EQ(owner(map, 0), "127.0.0.1:17301");
    EXPECT_EQ(owner(map, 5460), "127.0.0.1:17301");
    EXPECT_EQ(owner(map, 5461), "127.0.0.1:17302");
    EXPECT_EQ(owner(map, 16'383), "127.0.0.1:17303");
    EXPECT_EQ(map.servers().size(), 3u);
    ASSERT_EQ(map.others().size(), 1u) << "the replica";
    EXPECT_EQ(map.others()[0].identity(), "127.0.0.1:17304");
  }
}

TEST_F(RespClusterMap, OverTlsThePortsForTlsAreMeant) {
  const std::string_view shards =
      "*1\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:16383\r\n$5\r\nnodes\r\n*1\r\n*10\r\n"
      "$2\r\nid\r\n$1\r\na\r\n$4\r\nport\r\n:6379\r\n$8\r\ntls-port\r\n:7379\r\n"
      "$2\r\nip\r\n$8\r\n10.0.0.1\r\n$4\r\nrole\r\n$6\r\nmaster\r\n";
  for (const bool tls : {false, true}) {
    ClusterMap map(three, {.tls = tls});
    give(map, refused("ERR unknown subcommand"));
    EXPECT_EQ(give(map, done(shards)), "");
    EXPECT_EQ(owner(map, 0), tls ? "10.0.0.1:7379" : "10.0.0.1:6379");
  }
}

TEST_F(RespClusterMap, ARefusalLeadsToTheNextFormAndAtLastToTheFirst) {
  ClusterMap map(three);
  EXPECT_EQ(asks(map), "NODES");
  EXPECT_EQ(give(map, refused("NOPERM no")), "the server refused CLUSTER NODES: NOPERM no");
  EXPECT_EQ(asks(map), "SHARDS");
  give(map, refused("ERR unknown subcommand 'SHARDS'"));
  EXPECT_EQ(asks(map), "SLOTS");
  give(map, done("*1\r\n:1\r\n"));
  EXPECT_EQ(asks(map), "NODES") << "an answer that cannot be read is of no use either";
}

// The reply of Valkey 9.1 while a primary that was replaced does not answer.
TEST_F(RespClusterMap, ShardsWithTwoPrimariesSayNothing) {
  const auto node = [](const std::string& id, const std::string& port) {
    return "*10\r\n$2\r\nid\r\n$1\r\n" + id + "\r\n$4\r\nport\r\n:" + port +
           "\r\n$2\r\nip\r\n$8\r\n10.0.0.1\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
           "$6\r\nhealth\r\n$6\r\nonline\r\n";
  };
  for (const std::string slots : {"*2\r\n:0\r\n:16383\r\n", "*0\r\n"}) {
    const std::string reply = "*1\r\n*4\r\n$5\r\nslots\r\n" + slots + "$5\r\nnodes\r\n*2\r\n" +
                              node("a", "7001") + node("b", "7002");
    ClusterMap map(three);
    give(map, refused("NOPERM no"));
    EXPECT_EQ(give(map, done(reply)), "the reply to CLUSTER SHARDS has two primaries in one shard");
    EXPECT_EQ(asks(map), "SLOTS");
    EXPECT_EQ(give(map, done(live::redis_slots)), "");
    EXPECT_EQ(asks(map), "SLOTS");
  }
}

TEST_F(RespClusterMap, AFormThatWorksStays) {
  ClusterMap map(three);
  give(map, refused("NOPERM no"));
  EXPECT_EQ(give(map, done(live::redis_shards)), "");
  EXPECT_EQ(asks(map), "SHARDS");
}

TEST_F(RespClusterMap, AServerThatIsLoadingIsAskedTheSameLater) {
  ClusterMap map(three);
  protocol::Reply loading = refused("LOADING the dataset");
  loading.redirect = protocol::Redirect{};
  EXPECT_NE(give(map, loading), "");
  EXPECT_EQ(asks(map), "NODES");
}

TEST_F(RespClusterMap, AServerOutsideTheClusterIsNoMap) {
  ClusterMap map(three);
  const std::string lonely =
      "07c37dfeb235213a872192d90877d0cd55635b91 :7000@17000 myself,master - "
      "0 0 0 connected\n";
  const std::string reply = "$" + std::to_string(lonely.size()) + "\r\n" + lonely + "\r\n";
  EXPECT_EQ(give(map, done(reply)), "the server knows no owner of any slot");
  EXPECT_FALSE(map.known());
  EXPECT_EQ(give(map, done(live::redis_nodes)), "");
  give(map, done(reply), 2);
  EXPECT_EQ(owner(map, 0), "127.0.0.1:17301") << "it takes nothing away";
}

// A server that is out of date lists slots with replicas, or none at all, but the other servers
// that it names may know their owners.
TEST_F(RespClusterMap, AViewWithoutOwnersIsNoMapButNamesOtherServers) {
  ClusterMap map(three);
  const std::string stale =
      "07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:7000@17000 myself,slave "
      "67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1 0 0 3 connected 0-16383\n"
      "67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1 127.0.0.1:7001@17001 master - 0 0 3 connected\n";
  const std::string reply = "$" + std::to_string(stale.size()) + "\r\n" + stale + "\r\n";
  EXPECT_EQ(give(map, done(reply)), "the server knows no owner of any slot");
  EXPECT_FALSE(map.known());
  EXPECT_TRUE(map.servers().empty());
  std::vector<std::string> named;
  for (const NodeConfig& other : map.others()) named.push_back(other.identity());
  EXPECT_EQ(named, (std::vector<std::string>{"127.0.0.1:7000", "127.0.0.1:7001"}));
  EXPECT_EQ(give(map, done(live::redis_nodes)), "");
  EXPECT_EQ(owner(map, 0), "127.0.0.1:17301");
  EXPECT_TRUE(map.known());
}

// The two servers involved report it; a third one does not know.
TEST_F(RespClusterMap, SaysToWhomASlotIsOnItsWay) {
  const auto nodes = [](const std::string& myself, const std::string& of_a,
                        const std::string& of_b) {
    const auto line = [&](const std::string& id, const std::string& slots) {
      return id + " 10.0.0.1:700" + id + "@0 " + (id == myself ? "myself,master" : "master") +
             " - 0 0 " + id + " connected " + slots + "\n";
    };
    const std::string text =
        line("1", "0-9000" + of_a) + line("2", "9001-16383" + of_b) + line("3", "");
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  };
  const auto importer = [](const ClusterMap& map, std::uint16_t slot) {
    const auto found = map.importer(slot);
    return found ? found->identity() : "nobody";
  };
  ClusterMap map(three);
  EXPECT_EQ(importer(map, 7), "nobody");
  EXPECT_EQ(give(map, done(nodes("1", " [7->-3] [8->-9]", ""))), "");
  EXPECT_EQ(importer(map, 7), "10.0.0.1:7003");
  EXPECT_EQ(importer(map, 8), "nobody") << "a node that is not in the view";
  EXPECT_EQ(importer(map, 9), "nobody");
  EXPECT_EQ(give(map, done(nodes("2", "", " [9-<-1]"))), "");
  EXPECT_EQ(importer(map, 9), "10.0.0.1:7002");
  EXPECT_EQ(importer(map, 7), "nobody") << "it may be over";
  EXPECT_EQ(give(map, done(nodes("3", "", ""))), "");
  EXPECT_EQ(importer(map, 9), "nobody");
}

protocol::Reply nodes_reply(std::string& bytes, std::string_view text) {
  bytes = "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
  return done(bytes);
}

TEST_F(RespClusterMap, KnowsServersByTheNamesThatTheyAnnounce) {
  std::string bytes;
  ClusterMap map(three);
  const std::string_view text =
      "a0 10.0.0.1:7000@1,one.example myself,master - 0 0 1 connected 0-99\n"
      "a1 10.0.0.2:7000@1,two.example master - 0 0 2 connected 100-199\n"
      "a2 10.0.0.2:7001@1,two.example slave a0 0 0 1 connected\n"
      "a3 10.0.0.3:7000@1,many.example master - 0 0 3 connected 200-299\n"
      "a4 10.0.0.4:7001@1,many.example master - 0 0 4 connected 300-399\n"
      "a5 10.0.0.5:7000@1,twice.example master - 0 0 5 connected 400-499\n"
      "a6 10.0.0.6:7000@1,twice.example master - 0 0 6 connected 500-599\n"
      "a7 10.0.0.7:7000@1,10.0.0.1 master - 0 0 7 connected 600-699\n"
      "a8 :7000@1,lost.example master - 0 0 8 connected 700-799\n"
      "a9 10.0.0.9:7000@1 master - 0 0 9 connected 800-899\n";
  EXPECT_EQ(called(map, "one.example", 7000), "") << "nothing is known";
  ASSERT_EQ(give(map, nodes_reply(bytes, text)), "");
  EXPECT_EQ(called(map, "one.example", 7000), "10.0.0.1:7000");
  EXPECT_EQ(called(map, "two.example", 7001), "10.0.0.2:7001") << "a replica";
  EXPECT_EQ(called(map, "two.example", 7005), "10.0.0.2:7005") << "another one of that machine";
  EXPECT_EQ(called(map, "many.example", 7000), "10.0.0.3:7000");
  EXPECT_EQ(called(map, "many.example", 7001), "10.0.0.4:7001");
  EXPECT_EQ(called(map, "many.example", 7002), "") << "it may be either";
  EXPECT_EQ(called(map, "twice.example", 7000), "") << "it may be either";
  EXPECT_EQ(called(map, "10.0.0.1", 7000), "") << "that is an address";
  EXPECT_EQ(called(map, "lost.example", 7000), "");
  EXPECT_EQ(called(map, "none.example", 7000), "");
  EXPECT_EQ(called(map, "", 7000), "");
}

TEST_F(RespClusterMap, ReachesServersByTheNamesThatTheyAnnounceIfAskedTo) {
  std::string bytes;
  ClusterMap map(three, {.hosts = HostKind::names});
  const std::string_view text =
      "a0 :7000@1,one.example myself,master - 0 0 1 connected 0-99 [5->-a1]\n"
      "a1 10.0.0.2:7000@1,two.example master - 0 0 2 connected 100-199\n"
      "a2 10.0.0.2:7001@1,two.example slave a0 0 0 1 connected\n"
      "a3 10.0.0.3:7000@1 master - 0 0 3 connected 200-16383\n";
  ASSERT_EQ(give(map, nodes_reply(bytes, text)), "");
  std::vector<std::string> names;
  for (const NodeConfig& server : map.servers()) names.push_back(server.identity());
  std::ranges::sort(names);
  EXPECT_EQ(names,
            (std::vector<std::string>{"10.0.0.3:7000", "one.example:7000", "two.example:7000"}));
  ASSERT_TRUE(map.importer(5));
  EXPECT_EQ(map.importer(5)->identity(), "two.example:7000");
  EXPECT_EQ(called(map, "10.0.0.2", 7001), "two.example:7001");
  EXPECT_EQ(called(map, "two.example", 7001), "") << "it is called so already";
  ASSERT_EQ(map.replicas().size(), 1u);
  EXPECT_EQ(map.replicas().front().server.identity(), "two.example:7001");
}

// The kind: servers that a client reaches at other addresses than those that they know of.
class RespClusterMapBehindOneHost : public RespClusterMap {
 protected:
  static constexpr std::string_view nodes =
      "a0 10.0.0.1:7000@1,one.example myself,master - 0 0 1 connected 0-8191 [5->-a1]\n"
      "a1 10.0.0.2:7001@1,two.example master - 0 0 2 connected 8192-16383\n"
      "a2 10.0.0.3:7002@1 slave a0 0 0 1 connected\n";
  static constexpr std::string_view no_hosts =
      "*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$-1\r\n:7000\r\n"
      "*3\r\n:8192\r\n:16383\r\n*2\r\n$-1\r\n:7001\r\n";
  static constexpr std::string_view one_host =
      "*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$8\r\n10.0.0.1\r\n:7000\r\n"
      "*3\r\n:8192\r\n:16383\r\n*2\r\n$-1\r\n:7001\r\n";
  using Taken = ServerMap::Taken;

  // The map of a server at gate.example whose answer to CLUSTER SLOTS is `slots`.
  static ClusterMap after(std::string_view slots) {
    std::string bytes;
    ClusterMap map(three);
    const auto first = map.on_reply(nodes_reply(bytes, nodes), {.host = "gate.example"});
    EXPECT_TRUE(first && *first == Taken::half);
    EXPECT_FALSE(map.known());
    EXPECT_EQ(asks(map), "SLOTS");
    const auto second = map.on_reply(done(slots), {.host = "gate.example"});
    EXPECT_TRUE(second && *second == Taken::whole);
    EXPECT_EQ(asks(map), "NODES");
    return map;
  }
};

TEST_F(RespClusterMapBehindOneHost, ServersWithoutHostsAreAtTheOneThatWasAsked) {
  const ClusterMap map = after(no_hosts);
  EXPECT_EQ(owner(map, 0), "gate.example:7000");
  EXPECT_EQ(owner(map, 8192), "gate.example:7001");
  ASSERT_EQ(map.replicas().size(), 1u);
  EXPECT_EQ(map.replicas().front().server.identity(), "gate.example:7002");
  ASSERT_TRUE(map.importer(5));
  EXPECT_EQ(map.importer(5)->identity(), "gate.example:7001");
  EXPECT_EQ(called(map, "10.0.0.2", 7001), "gate.example:7001") << "a server with another setting";
  EXPECT_EQ(called(map, "two.example", 7001), "gate.example:7001");
}

TEST_F(RespClusterMapBehindOneHost, OneThatNamesAHostInSlotsMeansAddresses) {
  for (const std::string_view slots : {one_host, std::string_view("*0\r\n"), std::string_view()}) {
    const ClusterMap map = after(slots);
    EXPECT_EQ(owner(map, 0), "10.0.0.1:7000") << slots;
    EXPECT_EQ(owner(map, 8192), "10.0.0.2:7001");
  }
}

TEST_F(RespClusterMapBehindOneHost, IsNotAskedWhereItsOwnAddressWasAsked) {
  std::string bytes;
  for (const MapRules& rules : {MapRules{}, MapRules{.hosts = HostKind::names}}) {
    ClusterMap map(three, rules);
    const bool names = rules.hosts == HostKind::names;
    const auto taken =
        map.on_reply(nodes_reply(bytes, nodes), {.host = names ? "gate.example" : "10.0.0.1"});
    EXPECT_TRUE(taken && *taken == Taken::whole);
  }
}

TEST_F(RespClusterMapBehindOneHost, TheConfigurationSaysWhereServersAreReached) {
  const auto addresses = protocol::AddressMap::parse(
      "10.0.0.1:7000=gate.example:17000,two.example=192.0.2.2,10.0.0.9=192.0.2.9");
  ASSERT_TRUE(addresses);
  std::string bytes;
  ClusterMap map(three, {.addresses = *addresses});
  const auto taken = map.on_reply(nodes_reply(bytes, nodes), {.host = "gate.example"});
  EXPECT_TRUE(taken && *taken == Taken::whole) << "its own address is known";
  EXPECT_EQ(owner(map, 0), "gate.example:17000");
  EXPECT_EQ(owner(map, 8192), "192.0.2.2:7001");
  ASSERT_EQ(map.replicas().size(), 1u);
  EXPECT_EQ(map.replicas().front().server.identity(), "10.0.0.3:7002");
  EXPECT_EQ(map.importer(5)->identity(), "192.0.2.2:7001");
  EXPECT_EQ(called(map, "10.0.0.1", 7000), "gate.example:17000");
  EXPECT_EQ(called(map, "one.example", 7000), "gate.example:17000") << "its other name";
  EXPECT_EQ(called(map, "10.0.0.2", 7001), "192.0.2.2:7001") << "its other name";
  EXPECT_EQ(called(map, "10.0.0.9", 7009), "192.0.2.9:7009") << "one that the map does not know";
}

TEST_F(RespClusterMap, AServerThatStandsAloneOwnsAllIfItIsTheOnlyOne) {
  const protocol::Reply disabled = refused("ERR This instance has cluster support disabled");
  ClusterMap alone(std::vector<NodeConfig>{{"h", 7}});
  EXPECT_EQ(give(alone, disabled), "");
  EXPECT_TRUE(alone.known());
  EXPECT_EQ(owner(alone, 0), "h:7");
  EXPECT_EQ(owner(alone, 16'383), "h:7");
  EXPECT_EQ(give(alone, disabled), "");
  EXPECT_EQ(give(alone, done(live::redis_nodes)), "") << "it joined a cluster";
  EXPECT_EQ(owner(alone, 0), "127.0.0.1:17301");
  EXPECT_NE(give(alone, disabled), "") << "the others are still there";
  EXPECT_EQ(owner(alone, 0), "127.0.0.1:17301");
  ClusterMap several(three);
  EXPECT_EQ(give(several, disabled),
            "the server is not in cluster mode; routing=ring is for such servers");
  EXPECT_FALSE(several.known());
}

TEST_F(RespClusterMap, TwoNodesWithOneAddressAreOneServer) {
  const std::string text =
      "1111111111111111111111111111111111111111 10.0.0.1:7000@17000 myself,master - 0 0 2 "
      "connected 0-9\n"
      "2222222222222222222222222222222222222222 10.0.0.1:7000@17000 master - 0 0 1 connected "
      "10-19\n"
      "3333333333333333333333333333333333333333 10.0.0.2:7000@17000 slave "
      "1111111111111111111111111111111111111111 0 0 2 connected\n"
      "4444444444444444444444444444444444444444 :0@0 master,noaddr - 0 0 3 disconnected 20-29\n";
  ClusterMap map(three);
  const std::string reply = "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  ASSERT_EQ(give(map, done(reply)), "");
  EXPECT_EQ(owner(map, 0), "10.0.0.1:7000");
  EXPECT_EQ(owner(map, 10), "10.0.0.1:7000");
  EXPECT_EQ(map.servers().size(), 1u);
  EXPECT_EQ(owner(map, 20), "nobody") << "nobody can connect to it";
  EXPECT_EQ(owner(map, 30), "nobody");
  ASSERT_EQ(map.others().size(), 1u);
  EXPECT_EQ(map.slot_of()("foo"), 12'182);
}

// "127.0.0.1:17301 epoch 1"; a replica also has "of" and its primary.
std::vector<std::string> listed(const ClusterMap& map) {
  std::vector<std::string> lines;
  for (const ClusterServer& server : map.listing()) {
    std::string line = server.node + " epoch " + std::to_string(server.epoch);
    if (server.replica) line += " of " + server.primary;
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  return lines;
}

TEST_F(RespClusterMap, TheListingSaysWhoIsWhoseReplica) {
  ClusterMap map(three);
  EXPECT_TRUE(map.listing().empty());
  ASSERT_EQ(give(map, done(live::redis_nodes)), "");
  EXPECT_EQ(listed(map),
            (std::vector<std::string>{"127.0.0.1:17301 epoch 1", "127.0.0.1:17302 epoch 2",
                                      "127.0.0.1:17303 epoch 3",
                                      "127.0.0.1:17304 epoch 1 of 127.0.0.1:17301"}));
}

TEST_F(RespClusterMap, ReplicasAreNamedWithThePrimaryThatTheyCopy) {
  ClusterMap map(three);
  EXPECT_TRUE(map.replicas().empty());
  ASSERT_EQ(give(map, done(live::redis_nodes)), "");
  ASSERT_EQ(map.replicas().size(), 1u);
  EXPECT_EQ(map.replicas()[0].server.identity(), "127.0.0.1:17304");
  EXPECT_EQ(map.servers()[map.replicas()[0].primary].identity(), "127.0.0.1:17301");
}

// A replica of a server without slots has nothing to read, and one without an address cannot be
// asked.
TEST_F(RespClusterMap, OnlyReplicasOfOwnersThatCanBeReachedAreNamed) {
  const std::string text =
      "1111111111111111111111111111111111111111 10.0.0.1:7000@17000 myself,master - 0 0 2 "
      "connected 0-9\n"
      "2222222222222222222222222222222222222222 10.0.0.2:7000@17000 master - 0 0 1 connected\n"
      "3333333333333333333333333333333333333333 10.0.0.3:7000@17000 slave "
      "2222222222222222222222222222222222222222 0 0 1 connected\n"
      "4444444444444444444444444444444444444444 :0@0 slave,noaddr "
      "1111111111111111111111111111111111111111 0 0 2 disconnected\n"
      "5555555555555555555555555555555555555555 10.0.0.5:7000@17000 slave - 0 0 0 connected\n";
  ClusterMap map(three);
  const std::string reply = "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  ASSERT_EQ(give(map, done(reply)), "");
  EXPECT_TRUE(map.replicas().empty());
  EXPECT_EQ(map.others().size(), 3u);
}

TEST_F(RespClusterMap, AServerThatStandsAloneIsAPrimary) {
  ClusterMap map(std::vector<NodeConfig>{{"a", 1}});
  ASSERT_EQ(give(map, refused("ERR This instance has cluster support disabled")), "");
  EXPECT_EQ(listed(map), (std::vector<std::string>{"a:1 epoch 0"}));
}

// The nodes of a cluster in the form of CLUSTER NODES: each ID is a digit, repeated.
std::string nodes_reply(const std::string& ids, std::string_view epoch, std::string_view host) {
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    text += std::string(40, ids[i]) + " " + std::string(host) + ":" + std::to_string(7000 + i) +
            "@17000 " + (i == 0 ? "myself,master" : "master") + " - 0 0 " + std::string(epoch) +
            " connected" + (i == 0 ? " 0-16383" : "") + "\n";
  }
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

TEST_F(RespClusterMap, AViewThatSharesNoServerIsNeverMergedWhateverItsEpoch) {
  ClusterMap map(three);
  EXPECT_EQ(give(map, done(nodes_reply("123", "5", "10.0.0.1"))), "");
  EXPECT_TRUE(map.known_servers()->is_stranger(std::string(40, '7')));
  EXPECT_FALSE(map.known_servers()->is_stranger(std::string(40, '3')));
  EXPECT_NE(give(map, done(nodes_reply("789", "50", "10.0.0.2")), 2).find("another cluster"),
            std::string::npos);
  EXPECT_EQ(owner(map, 0), "10.0.0.1:7000");
  EXPECT_TRUE(map.known_servers()->is_stranger(std::string(40, '7')));
  // One that a known server names is no stranger.
  EXPECT_EQ(give(map, done(nodes_reply("127", "6", "10.0.0.1")), 3), "");
  EXPECT_FALSE(map.known_servers()->is_stranger(std::string(40, '7')));
  EXPECT_TRUE(map.known_servers()->is_stranger(std::string(40, '3'))) << "it has left";
}

TEST_F(RespClusterMap, BeforeTheFirstMapAndWithoutIdsNobodyIsAStranger) {
  ClusterMap map(three);
  give(map, done(nodes_reply("", "0", "10.0.0.1")));
  EXPECT_FALSE(map.known_servers()->is_stranger("any"));
  const std::string slots = "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$8\r\n10.0.0.1\r\n:7000\r\n";
  ClusterMap old(three);
  give(old, refused("ERR unknown subcommand"));
  give(old, refused("ERR unknown subcommand"));
  ASSERT_EQ(give(old, done(slots)), "");
  EXPECT_FALSE(old.known_servers()->is_stranger("any"));
  EXPECT_EQ(give(old, done(slots), 2), "");
}

TEST_F(RespClusterMap, WhatAServerWithoutClusterSaysIsLastingAndSaysWhatHelps) {
  ClusterMap map(std::vector<NodeConfig>{{"a", 1}});
  const auto said = map.on_reply(refused("ERR unknown command 'CLUSTER'"), {.host = "a"});
  ASSERT_FALSE(said);
  EXPECT_TRUE(said.error().lasting);
  EXPECT_EQ(said.error().text,
            "the server refused CLUSTER NODES: ERR unknown command 'CLUSTER'; routing=ring is for "
            "servers and proxies without CLUSTER");
  protocol::Reply loading = refused("LOADING Redis is loading the dataset in memory");
  loading.redirect = protocol::Redirect{.kind = protocol::Redirect::Kind::later};
  EXPECT_FALSE(map.on_reply(loading, {.host = "a"}).error().lasting);
}

}  // namespace
}  // namespace sheaf::protocol::resp
