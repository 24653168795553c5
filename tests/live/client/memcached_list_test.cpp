// Lists on real memcached servers: what the servers drop, and which server has the keys.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sheaf/list.h>

#include "client/list/format.h"
#include "tests/contract/endpoints.h"

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#endif

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using client::list::Id;
using client::list::Ids;
using client::list::Keys;
using Items = std::vector<std::string>;
using Holes = std::vector<std::optional<std::string>>;

class MemcachedLists : public test::OnEndpoint {
 protected:
  client::list::Head head(const std::string& name) {
    const auto bytes = client->get(Keys(name, Ids::drawn).head()).value();
    return client::list::parse_head(bytes.value().data, Ids::drawn).value();
  }
  // Removes the key as if the server had needed the room.
  void evict(const std::string& key) {
    ASSERT_EQ(client->remove(key).value(), RemoveResult::removed);
  }
  void evict_item(const std::string& name, Id id) { evict(Keys(name, Ids::drawn).item(id)); }
  void evict_segment(const std::string& name, Id id) { evict(Keys(name, Ids::drawn).segment(id)); }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MemcachedLists);
// TLS is left out, because one of the tests talks to the servers directly. The contract tests lists
// over TLS.
std::vector<test::EndpointFactory> plain_factories() {
  auto all = test::memcached_factories();
  std::erase_if(all, [](const auto& each) { return each.name.ends_with("OverTls"); });
  return all;
}
INSTANTIATE_TEST_SUITE_P(On, MemcachedLists, testing::ValuesIn(plain_factories()),
                         [](const auto& test) { return test.param.name; });

Items numbered(int count) {
  Items items;
  for (int i = 0; i < count; ++i) items.push_back(std::to_string(i));
  return items;
}

void push_all(List& list, const Items& items) {
  ASSERT_EQ(list.push_many(std::vector<std::string_view>(items.begin(), items.end())).pushed,
            items.size());
}

template <class T>
void expect_incomplete(const Result<T>& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().outcome, Outcome::refused) << result.error().message();
  EXPECT_EQ(result.error().reason, Reason::incomplete) << result.error().message();
  EXPECT_NE(result.error().text.find(" is missing"), std::string::npos) << result.error().text;
}

TEST_P(MemcachedLists, ADroppedItemIsAHoleThatIsReportedAndCanBeTakenOut) {
  List list(*client, "holes");
  for (const char* value : {"a", "b", "c", "d"}) list.push(value).value();
  evict_item("holes", head("holes").tail[1]);
  expect_incomplete(list.range(0, -1));
  EXPECT_EQ(list.range(2, 3).value(), (Items{"c", "d"})) << "beside the hole";
  EXPECT_EQ(list.range_with_holes(0, -1).value(), (Holes{"a", std::nullopt, "c", "d"}));
  EXPECT_EQ(list.range_with_holes(-3, -3).value(), (Holes{std::nullopt}));
  EXPECT_EQ(list.length().value(), 4u);
  expect_incomplete(list.remove(1));
  EXPECT_EQ(list.length().value(), 4u) << "it has not changed";
  EXPECT_EQ(list.remove(0).value(), "a");
  EXPECT_EQ(list.push("e").value(), 4u);
  EXPECT_EQ(list.drop_holes().value(), 1u);
  EXPECT_EQ(list.range(0, -1).value(), (Items{"c", "d", "e"}));
  EXPECT_EQ(list.drop_holes().value(), 0u);
}

TEST_P(MemcachedLists, AHoleCanBeFilledByAnUpdate) {
  List list(*client, "filled");
  push_all(list, {"a", "b", "c"});
  evict_item("filled", head("filled").tail.back());
  EXPECT_TRUE(list.update(-1, "new").value());
  EXPECT_EQ(list.range(0, -1).value(), (Items{"a", "b", "new"}));
}

TEST_P(MemcachedLists, ADroppedSegmentTakesItsItemsAndPushesGoOn) {
  List list(*client, "segments");
  push_all(list, numbered(700));  // 256 + 256 + 188
  const auto table = head("segments").segments;
  ASSERT_EQ(table.size(), 3u);
  evict_segment("segments", table[0].id);
  evict_segment("segments", table[2].id);
  expect_incomplete(list.range(0, 10));
  EXPECT_EQ(list.range(256, 257).value(), (Items{"256", "257"}));
  Client other = test::open(endpoint->uri());  // has read no segment
  List there(other, "segments");
  expect_incomplete(there.update(699, "x"));
  push_all(there, numbered(100));
  EXPECT_EQ(list.length().value(), 800u);
  const Holes holes = list.range_with_holes(250, 600).value();
  ASSERT_EQ(holes.size(), 351u);
  EXPECT_EQ(holes[5], std::nullopt);
  EXPECT_EQ(holes[6], "256");
  EXPECT_EQ(holes[261], "511");
  EXPECT_EQ(holes[262], std::nullopt);
  EXPECT_EQ(list.drop_holes().value(), 256u + 188u);
  Items rest;
  for (int i = 256; i < 512; ++i) rest.push_back(std::to_string(i));
  for (int i = 0; i < 100; ++i) rest.push_back(std::to_string(i));
  EXPECT_EQ(list.range(0, -1).value(), rest);
}

TEST_P(MemcachedLists, ManyHolesInALongListAreTakenOut) {
  List list(*client, "many");
  push_all(list, numbered(5'000));
  const auto table = head("many").segments;
  const std::string bytes =
      client->get(Keys("many", Ids::drawn).segment(table[3].id)).value().value().data;
  const auto ids = client::list::parse_segment(bytes, 0).value();
  for (std::size_t i = 0; i < ids.size(); i += 2) evict_item("many", ids[i]);
  for (const std::size_t at : {9u, 10u, 19u}) evict_segment("many", table[at].id);
  EXPECT_EQ(list.drop_holes().value(), 128u + 256u + 256u + table[19].count);
  const Items all = list.range(0, -1).value();
  EXPECT_EQ(all.size(), list.length().value());
  EXPECT_EQ(all.size(), 5'000u - 128u - 512u - table[19].count);
  for (std::size_t i = 1; i < all.size(); ++i) {
    ASSERT_LT(std::stoi(all[i - 1]), std::stoi(all[i]));
  }
}

TEST_P(MemcachedLists, AListWhoseHeadWasDroppedIsEmptyAndBeginsAgain) {
  List list(*client, "headless");
  push_all(list, numbered(50));
  evict(Keys("headless", Ids::drawn).head());
  EXPECT_EQ(list.length().value(), 0u);
  EXPECT_EQ(list.push("new").value(), 1u);
  EXPECT_EQ(list.range(0, -1).value(), Items{"new"});
}

TEST_P(MemcachedLists, AllKeysOfAListLiveWhereItsNameLeadsAlsoOnARingThatReadsNoTags) {
  for (const char* ring :
       {"libmemcached", "libmemcached-weighted", "spymemcached", "modula", "pymemcache", "dalli"}) {
    SCOPED_TRACE(ring);
    const auto fresh = GetParam().make();
    Client shared = test::open(fresh->uri() + "&ring=" + ring);
    List list(shared, "one-place");
    push_all(list, numbered(600));
    EXPECT_EQ(list.range(0, -1).value(), numbered(600));
    const std::vector<NodeText> all = shared.server_stats();
    for (const NodeText& stats : all) {
      ASSERT_TRUE(stats.text) << stats.text.error().message();
      const bool here = stats.node == shared.locate("one-place")->node;
      const std::string_view wanted = here ? "curr_items 604\n" : "curr_items 0\n";
      EXPECT_TRUE(stats.text->contains(wanted)) << stats.node;
    }
  }
}

// The server's text about a key, meant for people.
std::string debug_line(const std::string& node, const std::string& key) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(node.substr(node.find(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string request = "me " + key + "\r\n";
  EXPECT_EQ(::write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string line;
  for (char byte = 0; byte != '\n' && ::read(fd, &byte, 1) == 1;) line += byte;
  ::close(fd);
  return line;
}

TEST_P(MemcachedLists, WhatAListNamesNeverExpires) {
  List list(*client, "stays");
  push_all(list, numbered(300));
  list.push("last").value();
  list.update(0, "first").value();
  const Keys keys("stays", Ids::drawn);
  const std::string node = client->locate(keys.head())->node;
  const auto expect_endless = [&](const std::string& key) {
    const std::string line = debug_line(node, key);
    EXPECT_NE(line.find(" exp=-1 "), std::string::npos) << key << ": " << line;
  };
  expect_endless(keys.head());
  const client::list::Head last = head("stays");
  for (const auto& segment : last.segments) {
    expect_endless(keys.segment(segment.id));
    const auto bytes = client->get(keys.segment(segment.id)).value().value().data;
    const auto ids = client::list::parse_segment(bytes, segment.count).value();
    for (const Id id : ids) expect_endless(keys.item(id));
  }
  for (const Id id : last.tail) expect_endless(keys.item(id));
}

TEST_P(MemcachedLists, AnItemAboveTheItemSizeIsRefusedAndTheListStaysAsItIs) {
  List list(*client, "large");
  list.push("small").value();
  const auto refused = list.push(std::string(1u << 20, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::too_large);
  const std::string large(1u << 20, 'x');
  const std::string_view values[] = {"a", large};
  EXPECT_EQ(list.push_many(values).error->reason, Reason::too_large);
  EXPECT_EQ(list.range(0, -1).value(), Items{"small"});
}

#ifdef SHEAF_TEST_MEMCACHED_SERVERS

std::string uri_of(const test::MemcachedProcess& server) {
  return "memcached://127.0.0.1:" + std::to_string(server.port());
}

TEST(MemcachedListFaults, AServerWithoutVersionsIsOneError) {
  test::MemcachedOptions options;
  options.arguments = {"-C"};
  const test::Lent<test::MemcachedProcess> server(options);
  for (const char* protocol : {"meta", "binary"}) {
    Client client = test::open(uri_of(*server) + "?protocol=" + protocol);
    List list(client, std::string("versions-") + protocol);
    const auto pushed = list.push("x");
    ASSERT_FALSE(pushed);
    EXPECT_EQ(pushed.error().outcome, Outcome::unsupported);
    EXPECT_NE(pushed.error().text.find("keeps no versions (-C)"), std::string::npos)
        << pushed.error().message();
  }
}

TEST(MemcachedListFaults, AfterARestartTheListIsEmptyAndBothWritersGoOn) {
  test::MemcachedProcess server;
  Client one = test::open(uri_of(server));
  Client two = test::open(uri_of(server));
  List first(one, "restarted");
  List second(two, "restarted");
  first.push("before").value();
  second.push("before, too").value();
  server.kill();
  server.restart();
  const auto eventually = [](List& list, const std::string& value) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!list.push(value)) ASSERT_LT(std::chrono::steady_clock::now(), end);
  };
  eventually(second, "theirs");
  eventually(first, "ours");
  EXPECT_EQ(first.range(0, -1).value(), (Items{"theirs", "ours"}));
}

// On a server of two megabytes, other keys push everything out. Lists then lose items, and say so.
TEST(MemcachedListFaults, AFullServerMakesHolesButNoWrongList) {
  test::MemcachedOptions options;
  options.arguments = {"-m", "2"};
  test::MemcachedProcess server(options);
  Client client = test::open(uri_of(server));
  List list(client, "crowded", {Timeout(10s)});
  int holes = 0;
  int pushed = 0;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 10; ++i) pushed += list.push(std::to_string(pushed)) ? 1 : 0;
    for (int i = 0; i < 300; ++i) {
      static_cast<void>(client.set("filler" + std::to_string(round * 300 + i),
                                   std::string(2'000 + static_cast<std::size_t>(i), 'f')));
    }
    const auto all = list.range_with_holes(0, -1);
    ASSERT_TRUE(all) << all.error().message();
    int before = -1;
    for (const auto& item : *all) {
      if (!item) {
        ++holes;
        continue;
      }
      ASSERT_LT(before, std::stoi(*item));
      before = std::stoi(*item);
    }
    if (round % 20 != 19) continue;
    list.drop_holes().value();
  }
  EXPECT_GT(pushed, 300);
  RecordProperty("holes", holes);
}

#endif

}  // namespace
}  // namespace sheaf
