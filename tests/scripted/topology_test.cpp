// Every form in which servers describe their cluster; the client finds each slot's server.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/scripted/scene.h"

namespace sheaf::test {
namespace {

using Hosts = ScriptedCluster::Hosts;

std::string bulk_of(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
std::string number_of(std::size_t number) { return ":" + std::to_string(number) + "\r\n"; }

// Fields as a flat array, as in RESP2 and on Garnet, or as a map.
std::string fields_of(const std::vector<std::pair<std::string, std::string>>& fields, bool map) {
  std::string text = map ? "%" + std::to_string(fields.size()) + "\r\n"
                         : "*" + std::to_string(2 * fields.size()) + "\r\n";
  for (const auto& [name, value] : fields) text += bulk_of(name) + value;
  return text;
}

// How a server writes another server's address.
struct Written {
  const char* name;
  // For CLUSTER SHARDS and SLOTS; `{host}` is replaced by the address.
  std::string endpoint = "{host}";
  std::string ip = "{host}";
  std::string hostname{};  // no field if empty
  bool null = false;       // instead of the endpoint
  bool maps = false;
  bool replica = false;  // each server has one, which does not exist
};

// Each server has its own copy of the text, because an endpoint may depend on the server that says
// it.
struct NodesForm {
  const Written& endpoint;
  const ScriptedCluster& servers;

  std::string filled(const std::string& text, std::size_t server) const {
    return text == "{host}" ? servers.host(server) : text;
  }
  std::string endpoint_of(std::size_t server) const {
    return endpoint.null ? std::string(endpoint.maps ? "_\r\n" : "$-1\r\n")
                         : bulk_of(filled(endpoint.endpoint, server));
  }
  std::string slots_node(std::size_t server) const {
    std::vector<std::pair<std::string, std::string>> metadata;
    if (endpoint.ip != endpoint.endpoint || endpoint.null) {
      metadata.emplace_back("ip", bulk_of(filled(endpoint.ip, server)));
    }
    if (!endpoint.hostname.empty()) metadata.emplace_back("hostname", bulk_of(endpoint.hostname));
    return "*4\r\n" + endpoint_of(server) + number_of(servers.port(server)) +
           bulk_of(ScriptedCluster::id(server)) + fields_of(metadata, endpoint.maps);
  }
  std::string slots() const {
    std::string text = "*" + std::to_string(servers.size()) + "\r\n";
    for (std::size_t i = 0; i < servers.size(); ++i) {
      text += endpoint.replica ? "*4\r\n" : "*3\r\n";
      text += number_of(servers.first_slot(i)) + number_of(servers.first_slot(i + 1) - 1u);
      text += slots_node(i);
      if (endpoint.replica) {
        text += "*4\r\n" + bulk_of("127.0.0.8") + ":1\r\n" +
                bulk_of("replica" + std::to_string(i)) + fields_of({}, endpoint.maps);
      }
    }
    return text;
  }
  std::string shards_node(const std::string& id, const std::string& ip, std::size_t port,
                          const std::string& where, const char* role) const {
    std::vector<std::pair<std::string, std::string>> fields{
        {"id", bulk_of(id)}, {"port", number_of(port)}, {"ip", bulk_of(ip)}, {"endpoint", where}};
    if (!endpoint.hostname.empty()) fields.emplace_back("hostname", bulk_of(endpoint.hostname));
    fields.emplace_back("role", bulk_of(role));
    fields.emplace_back("replication-offset", number_of(0));
    fields.emplace_back("health", bulk_of("offline"));
    return fields_of(fields, endpoint.maps);
  }
  std::string shards() const {
    std::string text = "*" + std::to_string(servers.size()) + "\r\n";
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const std::string slots =
          "*2\r\n" + number_of(servers.first_slot(i)) + number_of(servers.first_slot(i + 1) - 1u);
      std::string nodes = endpoint.replica ? "*2\r\n" : "*1\r\n";
      if (endpoint.replica) {
        nodes += shards_node("replica" + std::to_string(i), "127.0.0.8", 1, bulk_of("127.0.0.8"),
                             i == 0 ? "slave" : "replica");
      }
      nodes += shards_node(ScriptedCluster::id(i), filled(endpoint.ip, i), servers.port(i),
                           endpoint_of(i), "master");
      text += fields_of({{"slots", slots}, {"nodes", nodes}}, endpoint.maps);
    }
    return text;
  }
};

// The endpoints of Redis, Valkey and Garnet, by their options for the preferred endpoint.
const std::vector<Written>& endpoints() {
  static const std::vector<Written> all{
      {.name = "an address"},
      {.name = "an address, with maps", .maps = true},
      {.name = "an address beside a host name", .hostname = "node.example"},
      {.name = "an address beside a host name, with maps", .hostname = "n.example", .maps = true},
      {.name = "a host name", .endpoint = "localhost", .hostname = "localhost"},
      {.name = "a host name, with maps", .endpoint = "localhost", .maps = true},
      {.name = "null", .null = true},
      {.name = "null, with maps", .null = true, .maps = true},
      {.name = "nothing", .endpoint = ""},
      {.name = "an unknown host name beside an address", .endpoint = "?"},
      {.name = "an unknown host name beside nothing", .endpoint = "?", .ip = ""},
      {.name = "with replicas", .replica = true},
      {.name = "with replicas and maps", .maps = true, .replica = true},
  };
  return all;
}

constexpr const char* refusals[] = {
    "-NOPERM this user has no permissions to run the 'cluster|nodes' command\r\n",
    "-ERR unknown subcommand 'NODES'. Try CLUSTER HELP.\r\n"};

// Checks that every server's keys are found on it, and that no server is asked for keys of others.
void expect_all_found(Scene& scene, const std::string& what) {
  for (std::size_t i = 0; i < scene.servers.size(); ++i) {
    for (unsigned number = 0; number < 3; ++number) {
      const std::string key = scene.servers.key(i, number);
      EXPECT_EQ(scene.call(Call::get, key, 20s), std::to_string(i) + "/" + key) << what;
    }
    EXPECT_EQ(scene.servers.requests(i).size(), 3u) << what;
  }
}

// One host for all servers if the text does not name it, because then the answering host counts.
Hosts hosts_for(const Written& endpoint) {
  const bool named = !endpoint.null && endpoint.endpoint == "{host}";
  const bool by_address = endpoint.endpoint == "?" && !endpoint.ip.empty();
  return named || by_address ? Hosts{"127.0.0.1", "127.0.0.2", "127.0.0.3"} : Hosts(3, "127.0.0.1");
}

TEST(ScriptedTopology, ShardsWhereNodesIsRefused) {
  for (const Written& endpoint : endpoints()) {
    for (const char* const refusal : refusals) {
      Scene scene(hosts_for(endpoint));
      const std::string text = NodesForm{endpoint, scene.servers}.shards();
      scene.servers.answer(ScriptedCluster::anyone, "CLUSTER NODES", refusal,
                           ScriptedCluster::always);
      scene.servers.answer(ScriptedCluster::anyone, "CLUSTER SHARDS", text,
                           ScriptedCluster::always);
      expect_all_found(scene, endpoint.name);
      EXPECT_EQ(scene.servers.count(ScriptedCluster::anyone, "CLUSTER SLOTS"), 0u);
    }
  }
}

TEST(ScriptedTopology, SlotsWhereNodesAndShardsAreRefused) {
  for (const Written& endpoint : endpoints()) {
    Scene scene(hosts_for(endpoint));
    const std::string text = NodesForm{endpoint, scene.servers}.slots();
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER NODES", refusals[0],
                         ScriptedCluster::always);
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER SHARDS", refusals[1],
                         ScriptedCluster::always);
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER SLOTS", text, ScriptedCluster::always);
    expect_all_found(scene, endpoint.name);
  }
}

TEST(ScriptedTopology, Ipv6AddressesInEveryForm) {
  if (!ScriptedCluster::has_address("::1")) GTEST_SKIP() << "this machine has no ::1";
  for (const std::string form : {"NODES", "SHARDS", "SLOTS"}) {
    Scene scene({"::1", "127.0.0.1", "::1"});
    const Written endpoint{.name = "addresses"};
    const NodesForm forms{endpoint, scene.servers};
    if (form != "NODES") {
      scene.servers.answer(ScriptedCluster::anyone, "CLUSTER NODES", refusals[0],
                           ScriptedCluster::always);
      scene.servers.answer(ScriptedCluster::anyone, "CLUSTER " + form,
                           form == "SHARDS" ? forms.shards() : forms.slots(),
                           ScriptedCluster::always);
    }
    expect_all_found(scene, form);
  }
}

// ---- CLUSTER NODES

// A line for each server, with these texts for its address and at the end.
std::string nodes_text(const ScriptedCluster& servers,
                       const std::function<std::string(std::size_t)>& address,
                       const std::string& more = {}) {
  std::string text;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const std::string slots =
        std::to_string(servers.first_slot(i)) + "-" + std::to_string(servers.first_slot(i + 1) - 1);
    text += ScriptedCluster::id(i) + " " + address(i) + (i == 0 ? " myself,master" : " master") +
            " - 0 0 " + std::to_string(i + 1) + " connected " + slots + "\n";
  }
  return text + more;
}

TEST(ScriptedTopology, AddressesInNodesAreWrittenInManyWays) {
  const std::vector<std::string> ways = {
      "{host}:{port}",
      "{host}:{port}@1",
      "{host}:{port}@1,",
      "{host}:{port}@1,node.example",
      "{host}:{port}@1,,tls-port=0,shard-id=0123456789abcdef",
      "{host}:{port}@1,node.example,tls-port=0",
      "{host}:{port}@1,?",
  };
  for (const std::string& way : ways) {
    for (const bool verbatim : {false, true}) {
      Scene scene({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
      const std::string text = nodes_text(scene.servers, [&](std::size_t i) {
        std::string address = way;
        address.replace(address.find("{host}"), 6, scene.servers.host(i));
        return address.replace(address.find("{port}"), 6, scene.port(i));
      });
      scene.servers.answer(0, "CLUSTER NODES",
                           verbatim
                               ? "=" + std::to_string(text.size() + 4) + "\r\ntxt:" + text + "\r\n"
                               : bulk_of(text),
                           ScriptedCluster::always);
      expect_all_found(scene, way);
    }
  }
}

// A server that has met no other does not know its own address: it is the address that was asked.
TEST(ScriptedTopology, AServerThatDoesNotKnowItsOwnAddressIsWhereItWasAsked) {
  for (const std::string own : {"", "?"}) {
    Scene scene({"127.0.0.2", "127.0.0.1"});
    const std::string text = nodes_text(scene.servers, [&](std::size_t i) {
      return (i == 0 ? own : scene.servers.host(i)) + ":" + scene.port(i) + "@1";
    });
    scene.servers.answer(0, "CLUSTER NODES", bulk_of(text), ScriptedCluster::always);
    expect_all_found(scene, own);
  }
}

// Replicas, servers that are gone or joining, and slots on lines where they mean nothing.
TEST(ScriptedTopology, LinesOfOthersTakeNoSlots) {
  Scene scene;
  const std::string whole = " - 0 0 9 connected 0-16383\n";
  const std::string primary = " " + ScriptedCluster::id(0) + " 0 0 99 connected 0-16383\n";
  const std::string text = nodes_text(
      scene.servers, [&](std::size_t i) { return scene.servers.address(i) + "@1"; },
      "b1 127.0.0.8:1@1 slave" + primary + "b2 127.0.0.8:2@1 slave,fail" + primary +
          "b3 127.0.0.8:3@1 handshake - 0 0 0 connected\n" +
          "b4 :0@0 master,noaddr - 0 0 0 disconnected\n");
  scene.servers.answer(0, "CLUSTER NODES", bulk_of(text), ScriptedCluster::always);
  expect_all_found(scene, whole);
}

// Port 0 means "none": the server's slots have no owner, and the others are served.
TEST(ScriptedTopology, AServerWithoutAPortOwnsNothing) {
  for (const std::string form : {"NODES", "SHARDS", "SLOTS"}) {
    Scene scene;
    const Written endpoint{.name = "addresses"};
    const NodesForm forms{endpoint, scene.servers};
    std::string text = form == "SHARDS"  ? forms.shards()
                       : form == "SLOTS" ? forms.slots()
                                         : nodes_text(scene.servers, [&](std::size_t i) {
                                             return scene.servers.address(i) + "@1";
                                           });
    const std::string port = form == "NODES" ? ":" + scene.port(2) + "@" : ":" + scene.port(2);
    text.replace(text.find(port), port.size(), form == "NODES" ? ":0@" : ":0");
    if (form != "NODES") {
      scene.servers.answer(ScriptedCluster::anyone, "CLUSTER NODES", refusals[0],
                           ScriptedCluster::always);
    }
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER " + form,
                         form == "NODES" ? bulk_of(text) : text, ScriptedCluster::always);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const std::string key = scene.servers.key(i);
      EXPECT_EQ(scene.call(Call::get, key, 20s), std::to_string(i) + "/" + key) << form;
    }
    const std::string end = scene.call(Call::set, scene.servers.key(2), 200ms);
    EXPECT_TRUE(end.starts_with("not sent, timed out: no server owns slot ")) << end;
    EXPECT_TRUE(scene.servers.conversations(2).empty());
  }
}

// Garnet says this about a server that it has lost.
TEST(ScriptedTopology, AnUnassignedServerOwnsNothing) {
  for (const std::string form : {"SHARDS", "SLOTS"}) {
    Scene scene({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
    const Written endpoint{.name = "addresses"};
    const NodesForm forms{endpoint, scene.servers};
    std::string text = form == "SHARDS" ? forms.shards() : forms.slots();
    const std::string lost = bulk_of(scene.servers.host(2));
    for (std::size_t at = 0; (at = text.find(lost)) != std::string::npos;) {
      text.replace(at, lost.size(), bulk_of("unassigned"));
    }
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER NODES", refusals[0],
                         ScriptedCluster::always);
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER " + form, text, ScriptedCluster::always);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const std::string key = scene.servers.key(i);
      EXPECT_EQ(scene.call(Call::get, key, 20s), std::to_string(i) + "/" + key) << form;
    }
    const std::string end = scene.call(Call::set, scene.servers.key(2), 200ms);
    EXPECT_TRUE(end.starts_with("not sent, timed out: no server owns slot ")) << end;
    EXPECT_TRUE(scene.servers.conversations(2).empty());
  }
}

// A map that cannot be read changes nothing, and the client asks for the next form.
TEST(ScriptedTopology, AMapThatCannotBeReadIsNoMap) {
  const std::vector<std::string> odd = {
      "$0\r\n\r\n",
      "$-1\r\n",
      "_\r\n",
      "*0\r\n",
      ":1\r\n",
      "+OK\r\n",
      "$5\r\nhello\r\n",
      bulk_of("a 127.0.0.1:1@1 myself,master - 0 0 1 connected 0-16384\n"),
      bulk_of("a 127.0.0.1:65536@1 myself,master - 0 0 1 connected 0-16383\n"),
      bulk_of("a 127.0.0.1:1@1 myself,master - 0 0 x connected 0-16383\n"),
      bulk_of("a 127.0.0.1:1@1 myself,master - 0 0 1 connected 9-1\n"),
      bulk_of("a 127.0.0.1 myself,master - 0 0 1 connected 0-16383\n")};
  for (const std::string& text : odd) {
    Scene scene;
    const Written endpoint{.name = "addresses"};
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER NODES", text, ScriptedCluster::always);
    scene.servers.answer(ScriptedCluster::anyone, "CLUSTER SHARDS",
                         NodesForm{endpoint, scene.servers}.shards(), ScriptedCluster::always);
    const std::string key = scene.servers.key(1);
    EXPECT_EQ(scene.call(Call::get, key, 20s), "1/" + key) << text;
  }
}

}  // namespace
}  // namespace sheaf::test
