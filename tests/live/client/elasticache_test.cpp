// The servers of an ElastiCache cluster, from scripted endpoints and from a real memcached that has
// the list under the older key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <sheaf/discovery.h>

#include "tests/support/answering_server.h"
#include "tests/support/reserved_port.h"
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#endif

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string list = "7\nC2.cache|10.0.0.2|11212 c1.cache|10.0.0.1|11211\n";

// Answers each line with the next text of a list.
AnsweringServer::Rules by_lines(std::vector<std::string> answers) {
  return {.stream = [answers, next = std::size_t{0}](std::string& input) mutable {
    const std::size_t end = input.find("\r\n");
    if (end == std::string::npos || next == answers.size()) return std::string();
    input.erase(0, end + 2);
    return answers[next++];
  }};
}
std::string config(const std::string& value) {
  return "CONFIG cluster 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\nEND\r\n";
}
std::string text(const Result<ElastiCacheServers>& found) {
  if (!found) return found.error().message();
  std::string out = std::to_string(found->version);
  for (const NodeConfig& one : found->servers) out += ' ' + one.identity();
  return out;
}
Error failure(const AnsweringServer& server, std::chrono::milliseconds timeout = 60s) {
  const auto found = servers_of_elasticache("127.0.0.1", server.port(), {.timeout = timeout});
  EXPECT_FALSE(found.has_value());
  if (found) return {};
  EXPECT_EQ(found.error().node, server.address());
  return found.error();
}

TEST(ElastiCache, ListsItsServersByTheirNames) {
  const AnsweringServer server(by_lines({config(list)}));
  EXPECT_EQ(text(servers_of_elasticache("localhost", server.port(), {.timeout = 60s})),
            "7 c1.cache:11211 c2.cache:11212");
}

TEST(ElastiCache, AnOlderOneIsAskedByAKey) {
  const AnsweringServer server(
      by_lines({"ERROR\r\n", "VALUE AmazonElastiCache:cluster 0 " + std::to_string(list.size()) +
                                 "\r\n" + list + "\r\nEND\r\n"}));
  EXPECT_EQ(text(servers_of_elasticache("127.0.0.1", server.port(), {.timeout = 60s})),
            "7 c1.cache:11211 c2.cache:11212");
}

TEST(ElastiCache, AListOfAThousandServersArrivesInPieces) {
  std::string value = "1\n";
  for (int i = 0; i < 1'000; ++i) value += "c" + std::to_string(i) + ".cache||11211 ";
  const AnsweringServer server(by_lines({config(value + "\n")}));
  const auto found = servers_of_elasticache("127.0.0.1", server.port(), {.timeout = 60s});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->servers.size(), 1'000u);
}

TEST(ElastiCache, AServerThatIsNoneSaysSo) {
  const AnsweringServer server(by_lines({"ERROR\r\n", "END\r\n"}));
  const Error error = failure(server);
  EXPECT_EQ(error.outcome, Outcome::refused);
  EXPECT_EQ(error.reason, Reason::other);
  EXPECT_EQ(error.text, "the server is not a configuration endpoint; it answers: END");
}

TEST(ElastiCache, AnswersThatCannotBeReadAreErrors) {
  const AnsweringServer empty(by_lines({config("7\n\n")}));
  EXPECT_EQ(failure(empty).text, "the list has no server");
  const AnsweringServer odd(by_lines({config("7\na/b||1\n")}));
  const Error error = failure(odd);
  EXPECT_EQ(error.text, "the list names a/b:1: the host is neither a name nor an address");
  EXPECT_EQ(error.outcome, Outcome::refused);
  EXPECT_EQ(error.reason, Reason::protocol_error);
}

TEST(ElastiCache, AConnectionThatEndsEarlyIsAnError) {
  AnsweringServer::Rules rules = by_lines({"CONFIG cluster 0 100\r\n7\n"});
  rules.hangs_up = true;
  const AnsweringServer server(std::move(rules));
  const Error error = failure(server);
  EXPECT_EQ(error.outcome, Outcome::unknown);
  EXPECT_EQ(error.reason, Reason::connection_lost);
  EXPECT_THAT(error.text, HasSubstr("the connection ended before the answer arrived"));
}

TEST(ElastiCache, SilenceEndsAtTheDeadline) {
  const AnsweringServer server({});
  const Error error = failure(server, 300ms);
  EXPECT_EQ(error.outcome, Outcome::unknown);
  EXPECT_EQ(error.reason, Reason::timed_out);
  EXPECT_GE(error.elapsed, 300ms);
}

TEST(ElastiCache, WhoCannotBeReachedIsNotAsked) {
  const ReservedPort nobody;
  const auto found = servers_of_elasticache("127.0.0.1", nobody.number(), {.timeout = 60s});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().outcome, Outcome::not_sent);
  EXPECT_EQ(found.error().reason, Reason::connect_failed);
  EXPECT_THAT(found.error().text, HasSubstr("refused"));
}

TEST(ElastiCache, IsAskedUntilSomebodyAsksToStop) {
  std::stop_source source;
  AnsweringServer::Rules rules;
  rules.stream = [&](std::string&) {
    source.request_stop();
    return std::string();
  };
  const AnsweringServer server(std::move(rules));
  const std::stop_token token = source.get_token();
  const auto found =
      servers_of_elasticache("127.0.0.1", server.port(), {.timeout = 24h, .stop = &token});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().outcome, Outcome::unknown);
  EXPECT_EQ(found.error().reason, Reason::cancelled);
}

TEST(ElastiCache, WhatIsNotAllowedIsRefusedAtOnce) {
  const auto refusal = [](const std::string& host, std::uint16_t port, DiscoveryOptions options) {
    const auto found = servers_of_elasticache(host, port, options);
    EXPECT_FALSE(found.has_value());
    EXPECT_EQ(found.error().reason, Reason::bad_argument);
    return found.error().text;
  };
  EXPECT_EQ(refusal("", 1, {}), "configuration endpoint: the host is empty");
  EXPECT_EQ(refusal("a b", 1, {}),
            "configuration endpoint: the host is neither a name nor an address");
  EXPECT_EQ(refusal("a", 0, {}),
            "configuration endpoint: the port is not an integer from 1 to 65535");
  EXPECT_EQ(refusal("a", 1, {.timeout = -1ms}), "the timeout of a look-up must be 1ms to 24h");
  ServerSource other{.kind = SourceKind::elasticache, .host = "a", .port = 1, .config = {}};
  other.config.kind = EndpointKind::embedded;
  EXPECT_EQ(find_servers(other).error().text, "embedded:// has no configuration endpoint");
}

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
TEST(ElastiCacheOnMemcached, TheOlderKeyIsReadFromARealServer) {
  const Lent<MemcachedProcess> server;
  auto client = Client::open("memcached://127.0.0.1:" + std::to_string(server->port()));
  ASSERT_TRUE(client->set("AmazonElastiCache:cluster", list, {.timeout = 60s}));
  EXPECT_EQ(text(servers_of_elasticache("127.0.0.1", server->port(), {.timeout = 60s})),
            "7 c1.cache:11211 c2.cache:11212");
  ASSERT_TRUE(client->remove("AmazonElastiCache:cluster", {.timeout = 60s}));
  const auto none = servers_of_elasticache("127.0.0.1", server->port(), {.timeout = 60s});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().text, "the server is not a configuration endpoint; it answers: END");
}
#endif

}  // namespace
}  // namespace sheaf::test
