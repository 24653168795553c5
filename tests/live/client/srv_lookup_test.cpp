// SRV records, looked up at scripted name servers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <sheaf/discovery.h>

#include "tests/extras/discovery/dns/dns_bytes.h"
#include "tests/support/answering_server.h"
#include "tests/support/reserved_port.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

const std::string service = "_memcached._tcp.cache.example";

AnsweringServer::Rules by_udp(AnswerBytes answer) {
  return {.datagram = [answer](std::string_view question) {
    return std::vector{answer.to_bytes(question)};
  }};
}
AnswerBytes two_servers() {
  AnswerBytes answer;
  answer.add(srv(1, 0, 11'212, "C2.cache.example")).add(srv(1, 3, 11'211, "c1.cache.example"));
  return answer.add(srv(2, 9, 11'211, "spare.cache.example"));
}
std::vector<std::string> texts(const Result<std::vector<NodeConfig>>& servers) {
  if (!servers) return {servers.error().message()};
  std::vector<std::string> out;
  for (const auto& one : *servers) out.push_back(one.identity() + '*' + std::to_string(one.weight));
  return out;
}
Error failure(const DiscoveryOptions& options) {
  auto servers = servers_of_srv(service, options);
  EXPECT_FALSE(servers.has_value());
  return servers ? Error{} : servers.error();
}

TEST(SrvRecords, AreServersInOrder) {
  const AnsweringServer dns(by_udp(two_servers()));
  EXPECT_THAT(texts(servers_of_srv("_Memcached._tcp.cache.example.",
                                   {.timeout = 60s, .name_servers = {dns.address()}})),
              ElementsAre("c1.cache.example:11211*3", "c2.cache.example:11212*1"));
}

TEST(SrvRecords, ThatDoNotFitIntoADatagramComeOverTcp) {
  AnswerBytes many;
  for (int i = 0; i < 1'000; ++i) many.add(srv(0, 1, 11'211, "c" + std::to_string(i) + ".example"));
  std::atomic<int> datagrams = 0;
  AnsweringServer::Rules rules = by_udp({.flags = 0x8380});  // truncated
  rules.datagram = [&, cut = rules.datagram](std::string_view question) {
    ++datagrams;
    return cut(question);
  };
  rules.stream = [many](std::string& input) {
    if (input.size() < 2) return std::string();
    const std::string bytes = many.to_bytes(std::string_view(input).substr(2));
    return std::string{static_cast<char>(bytes.size() >> 8), static_cast<char>(bytes.size())} +
           bytes;
  };
  const AnsweringServer dns(std::move(rules));
  const auto servers = servers_of_srv(service, {.timeout = 60s, .name_servers = {dns.address()}});
  ASSERT_TRUE(servers) << servers.error().message();
  EXPECT_EQ(servers->size(), 1'000u);
  EXPECT_GE(datagrams, 1);
}

TEST(SrvRecords, TheNextNameServerIsAskedIfOneIsOutOfOrderOrCannotBeReached) {
  const ReservedPort nobody;
  const AnsweringServer broken(by_udp({.flags = 0x8182}));  // server failure
  const AnsweringServer dns(by_udp(two_servers()));
  const std::string refuses = "127.0.0.1:" + std::to_string(nobody.number());
  EXPECT_EQ(
      texts(servers_of_srv(service, {.timeout = 60s,
                                     .name_servers = {refuses, broken.address(), dns.address()}}))
          .size(),
      2u);
  const Error error = failure({.timeout = 60s, .name_servers = {refuses, broken.address()}});
  EXPECT_EQ(error.outcome, Outcome::refused);
  EXPECT_EQ(error.text, "SRV records of " + service + ": the name server answers: server failure");
}

TEST(SrvRecords, ASilentNameServerIsNotWaitedForForever) {
  const AnsweringServer silent({});
  const AnsweringServer dns(by_udp(two_servers()));
  EXPECT_EQ(texts(servers_of_srv(
                      service, {.timeout = 60s, .name_servers = {silent.address(), dns.address()}}))
                .size(),
            2u);
}

TEST(SrvRecords, SilenceEndsAtTheDeadline) {
  const AnsweringServer silent({});
  const auto start = Clock::now();
  const Error error = failure({.timeout = 300ms, .name_servers = {silent.address()}});
  EXPECT_GE(Clock::now() - start, 300ms);
  EXPECT_EQ(error.outcome, Outcome::unknown);
  EXPECT_EQ(error.reason, Reason::timed_out);
  EXPECT_GE(error.elapsed, 300ms);
  EXPECT_THAT(error.text, HasSubstr("no name server has answered in time"));
}

TEST(SrvRecords, ANameServerThatIsSilentOverTcpIsBoundToo) {
  const AnsweringServer dns(by_udp({.flags = 0x8380}));
  EXPECT_EQ(failure({.timeout = 300ms, .name_servers = {dns.address()}}).reason, Reason::timed_out);
}

TEST(SrvRecords, WhatAnswersAnotherQuestionIsPassedOver) {
  AnsweringServer::Rules rules;
  rules.datagram = [](std::string_view question) {
    AnswerBytes forged;
    forged.add(srv(0, 1, 1, "forged"));
    std::string other(question);
    other[1] = static_cast<char>(other[1] + 1);  // the id
    return std::vector{forged.to_bytes(other), std::string("nonsense"), std::string(),
                       two_servers().to_bytes(question)};
  };
  const AnsweringServer dns(std::move(rules));
  EXPECT_THAT(texts(servers_of_srv(service, {.timeout = 60s, .name_servers = {dns.address()}})),
              ElementsAre("c1.cache.example:11211*3", "c2.cache.example:11212*1"));
}

TEST(SrvRecords, IdsAreDrawn) {
  std::vector<std::string> ids;
  AnsweringServer::Rules rules;
  rules.datagram = [&](std::string_view question) {
    ids.emplace_back(question.substr(0, 2));
    return std::vector{two_servers().to_bytes(question)};
  };
  {
    const AnsweringServer dns(std::move(rules));
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE(servers_of_srv(service, {.timeout = 60s, .name_servers = {dns.address()}}));
    }
  }
  std::ranges::sort(ids);
  const auto again = std::ranges::unique(ids);
  EXPECT_GE(again.begin() - ids.begin(), 4) << "of 65,536 eight are hardly ever the same";
}

TEST(SrvRecords, NoServiceNoNameNoRecordAndNoSenseAreErrors) {
  const auto text = [](AnswerBytes answer) {
    const AnsweringServer dns(by_udp(std::move(answer)));
    const Error error = failure({.timeout = 60s, .name_servers = {dns.address()}});
    EXPECT_EQ(error.outcome, Outcome::refused);
    return error.text.substr(error.text.find(": ") + 2);
  };
  EXPECT_EQ(text({.flags = 0x8183}), "there is no such name");
  EXPECT_EQ(text({}), "the name has no SRV record");
  AnswerBytes gone;
  EXPECT_EQ(text(gone.add(srv(0, 0, 0, ""))),
            "the service is not available there (the target of a record is \".\")");
  EXPECT_EQ(text({.count = 1}), "the answer of the name server cannot be read");
}

TEST(SrvRecords, AreLookedUpUntilSomebodyAsksToStop) {
  std::stop_source source;
  AnsweringServer::Rules rules;
  rules.datagram = [&](std::string_view) {
    source.request_stop();
    return std::vector<std::string>();
  };
  const AnsweringServer dns(std::move(rules));
  const std::stop_token token = source.get_token();
  const Error error = failure({.timeout = 24h, .name_servers = {dns.address()}, .stop = &token});
  EXPECT_EQ(error.outcome, Outcome::unknown);
  EXPECT_EQ(error.reason, Reason::cancelled);
  EXPECT_EQ(failure({.name_servers = {dns.address()}, .stop = &token}).reason, Reason::cancelled);
}

TEST(SrvRecords, WhatIsNotAllowedIsRefusedAtOnce) {
  const auto refusal = [](const std::string& of, const DiscoveryOptions& options) {
    const auto servers = servers_of_srv(of, options);
    EXPECT_FALSE(servers.has_value());
    EXPECT_EQ(servers.error().outcome, Outcome::invalid);
    EXPECT_EQ(servers.error().reason, Reason::bad_argument);
    return servers.error().text;
  };
  EXPECT_EQ(refusal("a..b", {}), "the name of the SRV records has an empty part");
  EXPECT_EQ(refusal(service, {.timeout = 0ms}), "the timeout of a look-up must be 1ms to 24h");
  EXPECT_EQ(refusal(service, {.timeout = 24h + 1ms}),
            "the timeout of a look-up must be 1ms to 24h");
  EXPECT_EQ(refusal(service, {.name_servers = {"::1", "::1", "::1", "::1"}}),
            "there are more than 3 name servers");
  for (const std::string bad : {"", "dns.example", "1.2.3", "1.2.3.4:0", "[1.2.3.4"}) {
    EXPECT_EQ(refusal(service, {.name_servers = {bad}}),
              "the name server " + bad + " is not a numeric address, ADDRESS or ADDRESS:PORT");
  }
}

TEST(SrvRecords, OfASourceBecomeAConfiguration) {
  const AnsweringServer dns(by_udp(two_servers()));
  const auto source = ServerSource::parse_uri("memcached+srv://" + service + "?pool_max=3");
  ASSERT_TRUE(source) << source.error().message();
  const auto config = find_servers(*source, {.timeout = 60s, .name_servers = {dns.address()}});
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->nodes.size(), 2u);
  EXPECT_EQ(config->pool_max, 3u);
  EXPECT_TRUE(Client::open(*config));
}

}  // namespace
}  // namespace sheaf::test
