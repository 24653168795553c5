// Clients that follow a source of servers: the servers change there, and keys are moved to the new
// node.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/async.h>
#include <sheaf/discovery.h>

#include "tests/extras/discovery/dns/dns_bytes.h"
#include "tests/support/answering_server.h"
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#endif

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string name = "_memcached._tcp.cache.example";

// The reports of a follower, in order.
template <class T>
class Reports {
 public:
  void add(const T& one) {
    const std::lock_guard lock(mutex_);
    all_.push_back(one);
    condition_.notify_all();
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return all_.empty();
  }
  // Returns the next one. A test that waits in vain fails.
  T next() {
    std::unique_lock lock(mutex_);
    if (!condition_.wait_for(lock, 60s, [&] { return !all_.empty(); })) {
      throw std::runtime_error("nothing was reported within 60 s");
    }
    T one = std::move(all_.front());
    all_.pop_front();
    return one;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  std::deque<T> all_;
};
using Changes = Reports<Result<ServersChanged>>;
using Lists = Reports<Result<std::vector<NodeConfig>>>;

std::vector<std::string> identities(const Result<std::vector<NodeConfig>>& servers) {
  if (!servers) return {servers.error().text};
  std::vector<std::string> out;
  for (const NodeConfig& one : *servers) out.push_back(one.identity());
  return out;
}

// An endpoint that returns the test's list at each look.
class ListEndpoint {
 public:
  explicit ListEndpoint(std::string value) : value_(std::move(value)) {}

  void list(std::string value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
  }
  // Lets a follower look, and returns when it has processed what it was told.
  void be_looked_at(ServerFollower& follower) {
    // The first look may already have been under way. The next look shows that the follower has
    // finished.
    for (int i = 0; i < 3; ++i) {
      std::unique_lock lock(mutex_);
      const int before = looks_;
      lock.unlock();
      follower.look_now();
      lock.lock();
      if (!looked_.wait_for(lock, 60s, [&] { return looks_ > before; })) {
        throw std::runtime_error("nobody has looked within 60 s");
      }
    }
  }
  ServerSource source() const {
    return ServerSource::parse_uri("memcached+elasticache://" + server_.address()).value();
  }

 private:
  std::string answer(std::string& input) {
    if (input.find("\r\n") == std::string::npos) return {};
    input.clear();
    const std::lock_guard lock(mutex_);
    ++looks_;
    looked_.notify_all();
    return "CONFIG cluster 0 " + std::to_string(value_.size()) + "\r\n" + value_ + "\r\nEND\r\n";
  }

  std::mutex mutex_;
  std::condition_variable looked_;
  int looks_ = 0;
  std::string value_;
  AnsweringServer server_{{.stream = [this](std::string& input) { return answer(input); }}};
};

ServerFollower follow(const ListEndpoint& endpoint, Lists& lists) {
  auto follower = ServerFollower::follow(
      endpoint.source(), [&](const auto& servers) { lists.add(servers); }, {.timeout = 60s});
  return std::move(follower.value());
}

TEST(ServerFollower, TellsTheFirstServersAndThoseThatDiffer) {
  ListEndpoint endpoint("1\na||1 b||1\n");
  Lists lists;
  ServerFollower follower = follow(endpoint, lists);
  EXPECT_THAT(identities(lists.next()), ElementsAre("a:1", "b:1"));
  endpoint.list("2\nb||1 a||1\n");  // the same in another order
  endpoint.be_looked_at(follower);
  EXPECT_TRUE(lists.empty());
  endpoint.list("3\na||1 c||1\n");
  follower.look_now();
  EXPECT_THAT(identities(lists.next()), ElementsAre("a:1", "c:1"));
}

TEST(ServerFollower, AnErrorAndAnOlderListChangeNothingAndAreReported) {
  ListEndpoint endpoint("5\na||1\n");
  Lists lists;
  ServerFollower follower = follow(endpoint, lists);
  EXPECT_THAT(identities(lists.next()), ElementsAre("a:1"));
  endpoint.list("4\nb||1\n");
  follower.look_now();
  EXPECT_THAT(identities(lists.next()),
              ElementsAre("the list of servers has version 4, but version 5 was seen before: an "
                          "older list is ignored"));
  endpoint.list("6\n\n");
  follower.look_now();
  EXPECT_THAT(identities(lists.next()), ElementsAre("the list has no server"));
  endpoint.list("6\nb||1\n");
  follower.look_now();
  EXPECT_THAT(identities(lists.next()), ElementsAre("b:1"));
}

TEST(ServerFollower, LooksAgainAtItsInterval) {
  std::atomic<int> looks = 0;
  AnsweringServer::Rules rules;
  rules.datagram = [&](std::string_view question) {
    AnswerBytes answer;
    answer.add(srv(0, 1, static_cast<std::uint16_t>(++looks), "a"));
    return std::vector{answer.to_bytes(question)};
  };
  const AnsweringServer dns(std::move(rules));
  Lists lists;
  const auto start = std::chrono::steady_clock::now();
  auto follower =
      ServerFollower::follow(ServerSource::parse_uri("memcached+srv://" + name).value(),
                             [&](const auto& servers) { lists.add(servers); },
                             {.interval = 1s, .timeout = 60s, .name_servers = {dns.address()}});
  ASSERT_TRUE(follower) << follower.error().message();
  EXPECT_TRUE(lists.next());
  EXPECT_TRUE(lists.next());
  EXPECT_GE(std::chrono::steady_clock::now() - start, 1s);
}

TEST(ServerFollower, ItsDestructorEndsALookThatIsUnderWay) {
  std::promise<void> asked;
  AnsweringServer::Rules rules;
  rules.stream = [&, told = false](std::string&) mutable {
    if (!std::exchange(told, true)) asked.set_value();
    return std::string();
  };
  const AnsweringServer silent(std::move(rules));
  std::atomic<int> told = 0;
  {
    auto follower = ServerFollower::follow(
        ServerSource::parse_uri("memcached+elasticache://" + silent.address()).value(),
        [&](const auto&) { ++told; }, {.timeout = 24h});
    ASSERT_TRUE(follower);
    asked.get_future().wait();
  }
  EXPECT_EQ(told, 0) << "nothing is told of a look that was ended";
}

TEST(ServerFollower, WhatIsNotAllowedIsRefusedAtOnce) {
  const ServerSource good = ServerSource::parse_uri("memcached+srv://" + name).value();
  const auto refusal = [](ServerSource source, FollowOptions options) {
    const auto follower =
        ServerFollower::follow(std::move(source), [](const auto&) {}, std::move(options));
    EXPECT_FALSE(follower.has_value());
    EXPECT_EQ(follower.error().reason, Reason::bad_argument);
    return follower.error().text;
  };
  EXPECT_EQ(refusal(good, {.interval = 999ms}), "the interval of a follower must be 1s to 1h");
  EXPECT_EQ(refusal(good, {.interval = 1h + 1ms}), "the interval of a follower must be 1s to 1h");
  EXPECT_EQ(refusal(good, {.timeout = 0ms}), "the timeout of a look-up must be 1ms to 24h");
  EXPECT_THAT(refusal(good, {.name_servers = {"x"}}), HasSubstr("the name server x"));
  EXPECT_EQ(refusal({}, {}), "the name of the SRV records is empty");
  const auto deaf = ServerFollower::follow(good, ServerFollower::Take());
  ASSERT_FALSE(deaf.has_value());
  EXPECT_EQ(deaf.error().text, "a follower without a client needs a function to call");
}

// The order of the servers places the keys of such a client, and servers that are found are sorted.
TEST(ServerFollower, AClientWhosePlacementNeedsTheOrderOfTheServersIsNotFollowed) {
  auto client = Client::open("memcached://127.0.0.1:1?ring=modula");
  ASSERT_TRUE(client);
  const auto follower = ServerFollower::follow(
      *client, ServerSource::parse_uri("memcached+srv://" + name).value(), [](const auto&) {});
  ASSERT_FALSE(follower.has_value());
  EXPECT_EQ(follower.error().reason, Reason::bad_argument);
  EXPECT_THAT(follower.error().text, HasSubstr("ring=modula places keys by the order"));
}

TEST(ServerFollower, MovesAndDoesNothingInAForkedChild) {
  ListEndpoint endpoint("1\na||1\n");
  Lists lists;
  ServerFollower first = follow(endpoint, lists);
  EXPECT_TRUE(lists.next());
  std::optional<ServerFollower> second(std::move(first));
  first.look_now();
  const pid_t child = ::fork();
  if (child == 0) {
    second.reset();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  endpoint.list("2\nb||1\n");
  second->look_now();
  EXPECT_THAT(identities(lists.next()), ElementsAre("b:1"));
}

TEST(ServerFollower, WhatAClientMayNotHaveIsReportedAndTriedAgain) {
  // A client of a cluster whose servers themselves say which servers belong to it.
  auto client = Client::open("redis://127.0.0.1:1");
  ListEndpoint endpoint("1\na||1\n");
  Changes changes;
  auto follower =
      ServerFollower::follow(*client, endpoint.source(),
                             [&](const auto& changed) { changes.add(changed); }, {.timeout = 60s});
  ASSERT_TRUE(follower);
  for (int i = 0; i < 2; ++i) {
    const auto changed = changes.next();
    ASSERT_FALSE(changed.has_value());
    EXPECT_EQ(changed.error().outcome, Outcome::unsupported);
    follower->look_now();
  }
}

TEST(ServerFollower, OutlivesItsClient) {
  ListEndpoint endpoint("1\nlocalhost||1\n");
  Changes changes;
  std::optional<ServerFollower> follower;
  {
    auto client = Client::open("memcached://127.0.0.1:1");
    follower.emplace(std::move(
        ServerFollower::follow(*client, endpoint.source(),
                               [&](const auto& changed) { changes.add(changed); }, {.timeout = 60s})
            .value()));
    EXPECT_TRUE(changes.next());
  }
  endpoint.list("2\nlocalhost||2\n");
  endpoint.be_looked_at(*follower);
  EXPECT_TRUE(changes.empty()) << "nobody wants to know";
}

TEST(ServerFollower, TellsNothingOnceItsClientIsClosedAlsoIfAHandleIsKept) {
  ListEndpoint endpoint("2\nlocalhost||1\n");
  Changes changes;
  std::optional<AsyncClient> handle;
  std::optional<ServerFollower> follower;
  {
    auto client = Client::open("memcached://127.0.0.1:1");
    handle = client->async();
    follower.emplace(std::move(
        ServerFollower::follow(*client, endpoint.source(),
                               [&](const auto& changed) { changes.add(changed); }, {.timeout = 60s})
            .value()));
    EXPECT_TRUE(changes.next());
  }
  endpoint.list("1\nlocalhost||2\n");  // older: an error
  endpoint.be_looked_at(*follower);
  EXPECT_TRUE(changes.empty()) << "nobody wants to know";
}

#ifdef SHEAF_TEST_MEMCACHED_SERVERS

// The servers that have the key, asked one by one.
std::string holder_of(const std::string& key, const std::vector<std::uint16_t>& ports) {
  std::string found;
  for (const std::uint16_t port : ports) {
    auto direct = Client::open("memcached://127.0.0.1:" + std::to_string(port));
    const auto got = direct->get(key, {.timeout = 60s});
    if (got && *got) found += ' ' + std::to_string(port);
  }
  return found;
}

// A key whose owner, for this client, is this server.
std::string key_of(const Client& client, std::uint16_t port) {
  for (int i = 0; i < 10'000; ++i) {
    std::string key = "key" + std::to_string(i);
    if (client.locate(key)->node == "localhost:" + std::to_string(port)) return key;
  }
  ADD_FAILURE() << "no key is of " << port;
  return {};
}

// A source that lists servers of this machine, for both kinds of source.
struct Listing {
  std::mutex mutex;
  std::vector<std::uint16_t> ports;
  std::uint64_t version = 0;

  void set(std::vector<std::uint16_t> now) {
    const std::lock_guard lock(mutex);
    ports = std::move(now);
    ++version;
  }
  AnsweringServer::Rules rules() {
    return {.datagram =
                [this](std::string_view question) {
                  const std::lock_guard lock(mutex);
                  AnswerBytes answer;
                  for (const std::uint16_t port : ports) answer.add(srv(0, 1, port, "localhost"));
                  return std::vector{answer.to_bytes(question)};
                },
            .stream =
                [this](std::string& input) {
                  if (input.find("\r\n") == std::string::npos) return std::string();
                  input.clear();
                  const std::lock_guard lock(mutex);
                  std::string value = std::to_string(version) + "\n";
                  for (const std::uint16_t port : ports) {
                    value += "localhost|127.0.0.1|" + std::to_string(port) + ' ';
                  }
                  value.back() = '\n';
                  return "CONFIG cluster 0 " + std::to_string(value.size()) + "\r\n" + value +
                         "\r\nEND\r\n";
                }};
  }
};

class FollowedFleet : public testing::TestWithParam<SourceKind> {};

INSTANTIATE_TEST_SUITE_P(By, FollowedFleet,
                         testing::Values(SourceKind::srv, SourceKind::elasticache),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(FollowedFleet, ServersChangeAndKeysGoToTheNewNode) {
  const Lent<MemcachedProcess> first;
  const Lent<MemcachedProcess> second;
  const std::vector<std::uint16_t> both{first->port(), second->port()};
  Listing listing;
  listing.set({first->port()});
  const AnsweringServer server(listing.rules());
  const std::string uri = GetParam() == SourceKind::srv
                              ? "memcached+srv://" + name
                              : "memcached+elasticache://" + server.address();
  const auto source = ServerSource::parse_uri(uri + "?timeout=60s");
  ASSERT_TRUE(source) << source.error().message();
  const std::vector<std::string> name_servers{server.address()};
  const auto config = find_servers(*source, {.timeout = 60s, .name_servers = name_servers});
  ASSERT_TRUE(config) << config.error().message();
  Client client = std::move(Client::open(*config).value());
  Changes changes;
  auto follower =
      ServerFollower::follow(client, *source, [&](const auto& changed) { changes.add(changed); },
                             {.interval = 1h, .timeout = 60s, .name_servers = name_servers});
  ASSERT_TRUE(follower) << follower.error().message();

  listing.set(both);
  follower->look_now();
  const auto grown = changes.next();
  ASSERT_TRUE(grown) << grown.error().message();
  EXPECT_THAT(grown->added, ElementsAre("localhost:" + std::to_string(second->port())));
  EXPECT_THAT(grown->removed, IsEmpty());
  const std::string moved = key_of(client, second->port());
  const std::string stays = key_of(client, first->port());
  ASSERT_TRUE(client.set(moved, "value"));
  ASSERT_TRUE(client.set(stays, "value"));
  EXPECT_EQ(holder_of(moved, both), ' ' + std::to_string(second->port()));
  EXPECT_EQ(holder_of(stays, both), ' ' + std::to_string(first->port()));

  listing.set({second->port()});
  follower->look_now();
  const auto shrunk = changes.next();
  ASSERT_TRUE(shrunk) << shrunk.error().message();
  EXPECT_THAT(shrunk->removed, ElementsAre("localhost:" + std::to_string(first->port())));
  ASSERT_TRUE(client.set(stays, "value"));
  EXPECT_EQ(holder_of(stays, {second->port()}), ' ' + std::to_string(second->port()));

  listing.set({});  // a name without a record, a list without a server
  follower->look_now();
  EXPECT_FALSE(changes.next().has_value());
  EXPECT_EQ(client.stats().size(), 1u) << "nothing has changed";
  EXPECT_TRUE(client.get(moved));
}

#endif

}  // namespace
}  // namespace sheaf::test
