#include "protocol/resp/cluster/topology_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "protocol/resp/wire/reply_reader.h"
#include "tests/protocol/resp/live_replies.h"

namespace sheaf::protocol::resp {
namespace {

constexpr AnsweringNode from{.host = "seed"};

using Parse = ParsedView (*)(const Value&, const AnsweringNode&);

ParsedView parse(Parse parser, std::string_view bytes, const AnsweringNode& answering = from) {
  ReplyReader reader;
  EXPECT_EQ(reader.read(bytes), ReplyReader::Progress::complete) << bytes;
  return parser(reader.root(), answering);
}

// A reply to CLUSTER NODES with these lines.
ParsedView parse_nodes(const std::string& text, const AnsweringNode& answering = from) {
  const std::string bytes = "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  return parse(parse_cluster_nodes, bytes, answering);
}

std::string claims_text(const TopologyView& view) {
  std::string out;
  for (const SlotClaim& claim : view.claims) {
    out += view.nodes[claim.node].host + ":" + std::to_string(view.nodes[claim.node].port) + "=" +
           std::to_string(claim.first) + "-" + std::to_string(claim.last) + " ";
  }
  return out;
}

std::string sorted_claims_text(TopologyView view) {
  std::ranges::sort(view.claims, {}, &SlotClaim::first);
  return claims_text(view);
}

const TopologyNode& node_at(const TopologyView& view, std::uint16_t port) {
  const auto found = std::ranges::find(view.nodes, port, &TopologyNode::port);
  EXPECT_NE(found, view.nodes.end()) << port;
  return *found;
}

// ---- what live servers send

TEST(TopologyView, AllRepliesOfRedisSayTheSame) {
  struct Case {
    Parse parser;
    std::string_view bytes;
  };
  for (const auto& [parser, bytes] : {Case{parse_cluster_nodes, live::redis_nodes},
                                      Case{parse_cluster_nodes, live::redis_nodes_resp3},
                                      Case{parse_cluster_slots, live::redis_slots},
                                      Case{parse_cluster_slots, live::redis_slots_resp3},
                                      Case{parse_cluster_shards, live::redis_shards},
                                      Case{parse_cluster_shards, live::redis_shards_resp3}}) {
    const auto view = parse(parser, bytes);
    ASSERT_TRUE(view) << view.error();
    EXPECT_EQ(sorted_claims_text(*view),
              "127.0.0.1:17301=0-5460 127.0.0.1:17302=5461-10922 127.0.0.1:17303=10923-16383 ");
    EXPECT_EQ(view->nodes.size(), 4u);
    const TopologyNode& replica = node_at(*view, 17304);
    EXPECT_EQ(replica.role, Role::replica);
    EXPECT_EQ(replica.primary, node_at(*view, 17301).id);
    EXPECT_EQ(node_at(*view, 17302).hostname, "node2.example");
    EXPECT_EQ(view->has_epochs, parser == parse_cluster_nodes);
  }
}

TEST(TopologyView, NodesOfRedisHaveEpochsAndMigrations) {
  const auto view = parse(parse_cluster_nodes, live::redis_nodes);
  ASSERT_TRUE(view);
  const TopologyNode& answering = node_at(*view, 17302);
  EXPECT_TRUE(answering.answering);
  EXPECT_FALSE(node_at(*view, 17301).answering);
  EXPECT_EQ(answering.epoch, 2u);
  ASSERT_EQ(view->migrations.size(), 1u);
  EXPECT_EQ(view->migrations[0].slot, 93);
  EXPECT_TRUE(view->migrations[0].importing);
  EXPECT_EQ(view->migrations[0].peer, node_at(*view, 17301).id);
  EXPECT_EQ(&view->nodes[view->migrations[0].node], &answering);
  const auto other = parse(parse_cluster_nodes, live::redis_nodes_resp3);
  ASSERT_TRUE(other);
  ASSERT_EQ(other->migrations.size(), 1u);
  EXPECT_FALSE(other->migrations[0].importing);
  EXPECT_EQ(other->migrations[0].peer, answering.id);
}

TEST(TopologyView, AllRepliesOfGarnetSayTheSame) {
  struct Case {
    Parse parser;
    std::string_view bytes;
  };
  for (const auto& [parser, bytes] : {Case{parse_cluster_nodes, live::garnet_nodes},
                                      Case{parse_cluster_slots, live::garnet_slots},
                                      Case{parse_cluster_shards, live::garnet_shards}}) {
    const auto view = parse(parser, bytes);
    ASSERT_TRUE(view) << view.error();
    EXPECT_EQ(sorted_claims_text(*view),
              "127.0.0.1:17401=0-5460 127.0.0.1:17402=5461-10922 127.0.0.1:17403=10923-16383 ");
    ASSERT_EQ(view->nodes.size(), 3u);
    EXPECT_EQ(view->nodes[0].hostname, "vm");
    if (parser == parse_cluster_nodes) {
      EXPECT_TRUE(node_at(*view, 17402).answering);
      EXPECT_EQ(node_at(*view, 17403).epoch, 3u);
      ASSERT_EQ(view->migrations.size(), 1u);
      EXPECT_EQ(view->migrations[0].slot, 93);
      EXPECT_TRUE(view->migrations[0].importing);
    }
  }
}

TEST(TopologyView, TheAnsweringHostStandsInWhereThereIsNoEndpoint) {
  const auto unknown = parse(parse_cluster_slots, live::garnet_slots_unknown_endpoint);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->nodes[0].host, "seed") << "null: the host that answered";
  EXPECT_EQ(unknown->nodes[0].hostname, "node1.example");
  const auto shards = parse(parse_cluster_shards, live::garnet_shards_unknown_endpoint);
  ASSERT_TRUE(shards);
  EXPECT_EQ(shards->nodes[0].host, "127.0.0.1") << "\"?\": the address, never the question mark";
  const auto named = parse(parse_cluster_slots, live::garnet_slots_by_hostname);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->nodes[0].host, "node0.example");
  for (const auto& view : {parse(parse_cluster_slots, live::redis_slots_by_hostname),
                           parse(parse_cluster_shards, live::redis_shards_by_hostname)}) {
    ASSERT_TRUE(view) << view.error();
    EXPECT_EQ(node_at(*view, 17301).host, "127.0.0.1") << "\"?\"";
    EXPECT_EQ(node_at(*view, 17302).host, "node2.example");
  }
}

// ---- CLUSTER NODES

TEST(TopologyNodes, ReadsEveryFormOfAddress) {
  const auto address = [](const std::string& text) {
    const auto view = parse_nodes("id " + text + " master - 0 0 1 connected\n");
    if (!view) return view.error();
    const TopologyNode& node = view->nodes[0];
    return node.host + "|" + std::to_string(node.port) + "|" + node.hostname;
  };
  EXPECT_EQ(address("10.0.0.1:7000@17000"), "10.0.0.1|7000|");
  EXPECT_EQ(address("10.0.0.1:7000@17000,name.example"), "10.0.0.1|7000|name.example");
  EXPECT_EQ(address("10.0.0.1:7000@17000,name.example,shard-id=69bc"),
            "10.0.0.1|7000|name.example");
  EXPECT_EQ(address("10.0.0.1:7000@17000,,shard-id=69bc"), "10.0.0.1|7000|");
  EXPECT_EQ(address("10.0.0.1:7000@17000,shard-id=69bc"), "10.0.0.1|7000|");
  EXPECT_EQ(address("10.0.0.1:7000@17000,?"), "10.0.0.1|7000|");
  EXPECT_EQ(address("10.0.0.1:7000"), "10.0.0.1|7000|") << "before Redis 4";
  EXPECT_EQ(address("2001:db8::7:7000@17000"), "2001:db8::7|7000|");
  EXPECT_EQ(address("::1:7000@17000,n"), "::1|7000|n");
  EXPECT_EQ(address(":0@0"), "|0|") << "noaddr";
  EXPECT_EQ(address(":7000@17000"), "|0|") << "nobody to connect to";
  EXPECT_EQ(address("10.0.0.1:0@0"), "10.0.0.1|0|");
  for (const std::string bad : {"10.0.0.1", "@1", "10.0.0.1:", "10.0.0.1:x@1", "10.0.0.1:65536@1",
                                "10.0.0.1:-1@1", "a\x7f:1@1", "a:1@1,\xc3\xa9"}) {
    EXPECT_TRUE(address(bad).starts_with("the reply to CLUSTER NODES has an ")) << address(bad);
  }
}

TEST(TopologyNodes, AServerAloneDoesNotKnowItsAddress) {
  const auto view = parse_nodes("id :7000@17000 myself,master - 0 0 0 connected 0-16383\n");
  ASSERT_TRUE(view) << view.error();
  EXPECT_EQ(view->nodes[0].host, "seed");
  EXPECT_EQ(view->nodes[0].port, 7000);
}

TEST(TopologyNodes, ReadsFlags) {
  const auto view = parse_nodes(
      "a 10.0.0.1:1@1 myself,slave b 0 0 9 connected\n"
      "b 10.0.0.1:2@1 master,fail - 0 0 5 disconnected 0-9\n"
      "c 10.0.0.1:3@1 master,fail?,nofailover - 0 0 6 disconnected 20 10-19 21\n"
      "d :0@0 slave,noaddr c 0 0 6 disconnected\n"
      "e 10.0.0.1:5@1 handshake - 0 0 0 disconnected\n"
      "e 10.0.0.1:6@1 handshake - 0 0 0 disconnected\n"
      "f 10.0.0.1:7@1 noflags - 0 0 0 disconnected\n"
      "g 10.0.0.1:8@1 primary,new-flag - 0 0 18446744073709551615 connected\n"
      "h 10.0.0.1:9@1 replica - 0 0 1 connected\n");
  ASSERT_TRUE(view) << view.error();
  ASSERT_EQ(view->nodes.size(), 6u) << "neither handshake nor noflags";
  EXPECT_EQ(view->nodes[0].role, Role::replica);
  EXPECT_EQ(view->nodes[0].primary, "b");
  EXPECT_TRUE(view->nodes[0].answering);
  EXPECT_EQ(view->nodes[1].role, Role::primary);
  EXPECT_EQ(view->nodes[3].port, 0);
  EXPECT_EQ(view->nodes[4].epoch, 18446744073709551615u);
  EXPECT_EQ(view->nodes[5].primary, "");
  EXPECT_EQ(claims_text(*view),
            "10.0.0.1:2=0-9 10.0.0.1:3=20-20 10.0.0.1:3=10-19 10.0.0.1:3=21-21 ");
}

// Garnet lists them so permanently after a failed failover.
TEST(TopologyNodes, ALineOfAReplicaMayHaveSlots) {
  const auto view = parse_nodes(
      "a 10.0.0.1:1@1 myself,master - 0 0 4 connected\r\n"
      "b 10.0.0.1:2@1 slave a 0 0 8 connected 0-16383\r\n");
  ASSERT_TRUE(view) << view.error();
  EXPECT_EQ(claims_text(*view), "10.0.0.1:2=0-16383 ");
  EXPECT_EQ(view->nodes[1].role, Role::replica);
}

TEST(TopologyNodes, ASlotStaysWithTheFirstThatListsIt) {
  const auto view = parse_nodes(
      "a 10.0.0.1:1@1 master - 0 0 4 connected 3-5 3-5\n"
      "b 10.0.0.1:2@1 master - 0 0 8 connected 0-8\n");
  ASSERT_TRUE(view) << view.error();
  EXPECT_EQ(claims_text(*view), "10.0.0.1:1=3-5 10.0.0.1:2=0-2 10.0.0.1:2=6-8 ");
}

TEST(TopologyNodes, GarbageIsRefusedAsAWhole) {
  const std::string good = "a 10.0.0.1:1@1 myself,master - 0 0 4 connected 0-9";
  EXPECT_TRUE(parse_nodes(good));
  for (const std::string bad :
       {"", "\n\n", "a", "a 10.0.0.1:1@1", "a 10.0.0.1:1@1 master - 0 0 4", " ",
        "a 10.0.0.1:1@1 master - 0 0 x connected", "a 10.0.0.1:1@1 master - 0 0 -1 connected",
        "a 10.0.0.1:1@1 master - 0 0 18446744073709551616 connected",
        " 10.0.0.1:1@1 master - 0 0 4 connected", "a 10.0.0.1:1@1 slave \x01 0 0 4 connected"}) {
    EXPECT_FALSE(parse_nodes(bad)) << bad;
  }
  for (const std::string slots : {"16384",
                                  "0-16384",
                                  "9-3",
                                  "-",
                                  "-5",
                                  "5-",
                                  "x",
                                  "01",
                                  "1-2-3",
                                  "[",
                                  "[]",
                                  "]",
                                  "[93",
                                  "[93]",
                                  "[93->-]",
                                  "[93-x-b]",
                                  "[93->b]",
                                  "[16384->-b]",
                                  "[x->-b]",
                                  "[-<-b]",
                                  "[93-<-b",
                                  "4294967296",
                                  "99999999999999999999"}) {
    const auto view = parse_nodes(good + " " + slots);
    ASSERT_FALSE(view) << slots;
    EXPECT_TRUE(view.error().starts_with("the reply to CLUSTER NODES has an invalid")) << slots;
  }
  EXPECT_FALSE(parse_nodes(good + "\n" + good)) << "twice";
  EXPECT_FALSE(parse_nodes(good + "\nb 10.0.0.1:2@1 myself,slave a 0 0 4 connected"))
      << "two selves";
  EXPECT_FALSE(parse(parse_cluster_nodes, "$-1\r\n"));
  EXPECT_FALSE(parse(parse_cluster_nodes, ":1\r\n"));
  EXPECT_FALSE(parse(parse_cluster_nodes, "-NOPERM no\r\n")) << "an error is no view";
  EXPECT_EQ(parse_nodes("a 10.0.0.1:1@1 master - 0 0 4 connected 9-3").error(),
            "the reply to CLUSTER NODES has an invalid range of slots: 9-3");
}

TEST(TopologyNodes, MoreNodesThanSlotsAreRefused) {
  std::string text;
  for (int i = 0; i < 16'385; ++i) {
    text += "n" + std::to_string(i) + " 10.0.0.1:1@1 slave - 0 0 4 connected\n";
  }
  EXPECT_EQ(parse_nodes(text).error(), "the reply to CLUSTER NODES has more nodes than slots");
}

// ---- CLUSTER SHARDS

std::string text(std::string_view word) {
  return "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
}

// Fields as "name=value". A value of digits is a number, "null" is a null.
std::string fields(const std::vector<std::string>& list, char type = '%') {
  const std::size_t count = type == '%' ? list.size() : 2 * list.size();
  std::string out = type + std::to_string(count) + "\r\n";
  for (const std::string& field : list) {
    const std::size_t at = field.find('=');
    const std::string value = field.substr(at + 1);
    const bool number = !value.empty() && value.find_first_not_of("0123456789") == value.npos;
    out += text(field.substr(0, at));
    out += value == "null" ? "$-1\r\n" : number ? ":" + value + "\r\n" : text(value);
  }
  return out;
}

std::string shard(const std::string& slots, const std::vector<std::string>& nodes) {
  std::string out = "%2\r\n" + text("slots") + slots + text("nodes");
  out += "*" + std::to_string(nodes.size()) + "\r\n";
  for (const std::string& node : nodes) out += node;
  return "*1\r\n" + out;
}

TEST(TopologyShards, TakesEveryFormOfEndpoint) {
  const auto host = [](const std::vector<std::string>& extra, bool tls = false) {
    std::vector<std::string> list = {"id=a", "role=master"};
    list.insert(list.end(), extra.begin(), extra.end());
    const auto view = parse(parse_cluster_shards, shard("*0\r\n", {fields(list, '*')}),
                            {.host = "seed", .tls = tls});
    if (!view) return view.error();
    return view->nodes[0].host + "|" + std::to_string(view->nodes[0].port);
  };
  EXPECT_EQ(host({"port=1", "ip=10.0.0.1", "endpoint=10.0.0.2"}), "10.0.0.2|1");
  EXPECT_EQ(host({"port=1", "ip=10.0.0.1", "endpoint=null"}), "seed|1");
  EXPECT_EQ(host({"port=1", "ip=10.0.0.1", "endpoint="}), "seed|1");
  EXPECT_EQ(host({"port=1", "ip=10.0.0.1", "endpoint=?"}), "10.0.0.1|1");
  EXPECT_EQ(host({"port=1", "ip=", "endpoint=?"}), "seed|1");
  EXPECT_EQ(host({"port=1", "ip=null", "endpoint=?"}), "seed|1");
  EXPECT_EQ(host({"port=1", "ip=10.0.0.1"}), "10.0.0.1|1");
  EXPECT_EQ(host({"port=1", "ip=::1", "endpoint=::1"}), "::1|1");
  EXPECT_EQ(host({"port=0", "endpoint=unassigned"}), "|0");
  EXPECT_EQ(host({"port=1", "endpoint=unassigned"}), "|0");
  EXPECT_EQ(host({"port=1", "tls-port=2", "ip=10.0.0.1"}), "10.0.0.1|1");
  EXPECT_EQ(host({"port=1", "tls-port=2", "ip=10.0.0.1"}, true), "10.0.0.1|2");
  EXPECT_EQ(host({"port=1", "ip=10.0.0.1"}, true), "10.0.0.1|1") << "Garnet has one port";
  EXPECT_EQ(host({"tls-port=2", "ip=10.0.0.1"}), "10.0.0.1|0");
}

TEST(TopologyShards, SlotsBelongToThePrimaryWhereverItIsListed) {
  const auto node = [](const std::string& id, const std::string& role) {
    return fields({"id=" + id, "port=7", "ip=" + id, "role=" + role, "health=offline"});
  };
  const std::string slots = "*4\r\n:5\r\n:7\r\n:0\r\n:2\r\n";
  for (const std::string role : {"slave", "replica"}) {
    const auto view =
        parse(parse_cluster_shards, shard(slots, {node("a", role), node("b", "master")}));
    ASSERT_TRUE(view) << view.error();
    EXPECT_EQ(claims_text(*view), "b:7=5-7 b:7=0-2 ");
    EXPECT_EQ(view->nodes[0].primary, "b");
  }
  const auto orphans = parse(parse_cluster_shards, shard(slots, {node("a", "slave")}));
  ASSERT_TRUE(orphans);
  EXPECT_TRUE(orphans->claims.empty());
  const auto two =
      parse(parse_cluster_shards, shard(slots, {node("a", "master"), node("b", "master")}));
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error(), "the reply to CLUSTER SHARDS has two primaries in one shard");
}

TEST(TopologyShards, GarbageIsRefused) {
  const std::string node = fields({"id=a", "port=7", "ip=a", "role=master"});
  EXPECT_TRUE(parse(parse_cluster_shards, shard("*2\r\n:0\r\n:1\r\n", {node})));
  EXPECT_TRUE(parse(parse_cluster_shards, "*0\r\n")) << "a cluster without slots";
  for (const std::string& bad : std::vector<std::string>{
           "$-1\r\n", "+OK\r\n", "*1\r\n:1\r\n", "*1\r\n%0\r\n", "*1\r\n*1\r\n+slots\r\n",
           shard("*1\r\n:0\r\n", {node}), shard("*2\r\n:1\r\n:0\r\n", {node}),
           shard("*2\r\n:0\r\n:16384\r\n", {node}), shard("*2\r\n:-1\r\n:0\r\n", {node}),
           shard("*2\r\n+a\r\n+b\r\n", {node}), shard("$1\r\nx\r\n", {node}),
           shard("*0\r\n", {"$1\r\nx\r\n"}), shard("*0\r\n", {"*0\r\n"}),
           shard("*0\r\n", {fields({"id=a", "port=7", "ip=a"})}),
           shard("*0\r\n", {fields({"id=a", "port=7", "ip=a", "role=king"})}),
           shard("*0\r\n", {fields({"id=a", "port=65536", "ip=a", "role=master"})}),
           shard("*0\r\n", {fields({"id=a", "port=x", "ip=a", "role=master"})}),
           shard("*0\r\n", {fields({"port=7", "ip=a", "role=master"})}),
           shard("*0\r\n", {fields({"id=a b", "port=7", "ip=a", "role=master"})})}) {
    EXPECT_FALSE(parse(parse_cluster_shards, bad)) << bad;
  }
}

// ---- CLUSTER SLOTS

TEST(TopologySlots, TakesEveryFormOfEndpoint) {
  const auto host = [](const std::string& endpoint, const std::string& rest) {
    const std::string bytes =
        "*1\r\n*3\r\n:0\r\n:5\r\n" + rest.substr(0, 4) + endpoint + rest.substr(4);
    const auto view = parse(parse_cluster_slots, bytes);
    if (!view) return view.error();
    const TopologyNode& node = view->nodes[0];
    return node.host + "|" + std::to_string(node.port) + "|" + node.id + "|" + node.hostname;
  };
  const std::string address = "ip\r\n$8\r\n10.0.0.1\r\n";
  EXPECT_EQ(host(text("10.0.0.1"), "*2\r\n:7\r\n"), "10.0.0.1|7|10.0.0.1:7|") << "before Redis 4";
  EXPECT_EQ(host(text("10.0.0.1"), "*3\r\n:7\r\n+a\r\n"), "10.0.0.1|7|a|");
  EXPECT_EQ(host("$-1\r\n", "*4\r\n:7\r\n+a\r\n*0\r\n"), "seed|7|a|");
  EXPECT_EQ(host("_\r\n", "*4\r\n:7\r\n+a\r\n%0\r\n"), "seed|7|a|");
  EXPECT_EQ(host(text(""), "*4\r\n:7\r\n+a\r\n%0\r\n"), "seed|7|a|");
  EXPECT_EQ(host("$-1\r\n", "*4\r\n:7\r\n+a\r\n%1\r\n$2\r\n" + address), "seed|7|a|")
      << "the address may be one that only the cluster can reach";
  EXPECT_EQ(host(text("?"), "*4\r\n:7\r\n+a\r\n*2\r\n$2\r\n" + address), "10.0.0.1|7|a|");
  EXPECT_EQ(host(text("?"), "*4\r\n:7\r\n+a\r\n*0\r\n"), "seed|7|a|");
  EXPECT_EQ(host(text("n.example"),
                 "*4\r\n:7\r\n+a\r\n*4\r\n+hostname\r\n+h.example\r\n$2\r\n" + address),
            "n.example|7|a|h.example");
  EXPECT_EQ(host(text("unassigned"), "*4\r\n:0\r\n+a\r\n*0\r\n"), "|0|a|");
}

TEST(TopologySlots, RangesMayComeInAnyOrder) {
  const std::string a = "*3\r\n+10.0.0.1\r\n:1\r\n+a\r\n";
  const std::string b = "*3\r\n+10.0.0.1\r\n:2\r\n+b\r\n";
  const auto view =
      parse(parse_cluster_slots, "*3\r\n*4\r\n:9\r\n:9\r\n" + a + b + "*3\r\n:0\r\n:3\r\n" + b +
                                     "*3\r\n:4\r\n:5\r\n" + a);
  ASSERT_TRUE(view) << view.error();
  EXPECT_EQ(claims_text(*view), "10.0.0.1:1=9-9 10.0.0.1:2=0-3 10.0.0.1:1=4-5 ");
}

TEST(TopologySlots, GarbageIsRefused) {
  const std::string a = "*3\r\n+10.0.0.1\r\n:1\r\n+a\r\n";
  EXPECT_TRUE(parse(parse_cluster_slots, "*0\r\n"));
  EXPECT_TRUE(parse(parse_cluster_slots, "*1\r\n*2\r\n:0\r\n:1\r\n")) << "slots of nobody";
  for (const std::string& bad : std::vector<std::string>{
           "$-1\r\n", "*1\r\n:1\r\n", "*1\r\n*1\r\n:1\r\n", "*1\r\n*3\r\n:1\r\n:0\r\n" + a,
           "*1\r\n*3\r\n:0\r\n:16384\r\n" + a, "*1\r\n*3\r\n_\r\n:1\r\n" + a,
           "*1\r\n*3\r\n:0\r\n:1\r\n:7\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n*1\r\n+h\r\n",
           "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n:1\r\n:1\r\n+a\r\n",
           "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n+h\r\n:65536\r\n+a\r\n",
           "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n+h\r\n:1\r\n_\r\n",
           "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n+h h\r\n:1\r\n+a\r\n"}) {
    EXPECT_FALSE(parse(parse_cluster_slots, bad)) << bad;
  }
}

TEST(TopologySlots, TheAnsweringNodeIsKnownByItsId) {
  const auto view = parse(parse_cluster_slots, live::redis_slots);
  ASSERT_TRUE(view);
  const std::string id = view->nodes[2].id;
  const auto again = parse(parse_cluster_slots, live::redis_slots, {.host = "seed", .id = id});
  ASSERT_TRUE(again);
  for (const TopologyNode& node : again->nodes) EXPECT_EQ(node.answering, node.id == id);
}

// ---- properties

TEST(TopologyView, DamagedRepliesGiveAViewInBoundsOrNone) {
  Random random(1);
  const std::string text(live::redis_nodes.substr(live::redis_nodes.find('\n') + 1));
  for (int i = 0; i < 1'000; ++i) {
    std::string damaged = text;
    for (std::uint64_t hits = random.below(4); hits > 0; --hits) {
      static constexpr std::string_view likely = " -:@,[]<>\n0123456789";
      damaged[random.below(damaged.size())] = likely[random.below(likely.size())];
    }
    if (random.below(4) == 0) damaged.resize(random.below(damaged.size()));
    const auto view = parse_nodes(damaged);
    if (!view) continue;
    for (const SlotClaim& claim : view->claims) {
      ASSERT_LT(claim.node, view->nodes.size());
      ASSERT_LE(claim.first, claim.last);
      ASSERT_LT(claim.last, 16'384);
    }
    for (const SlotMigration& migration : view->migrations) {
      ASSERT_LT(migration.node, view->nodes.size());
      ASSERT_LT(migration.slot, 16'384);
    }
  }
}

}  // namespace
}  // namespace sheaf::protocol::resp
