// How a client logs in to a real memcached: by SASL and by text, in each protocol and with
// detection, with right and wrong passwords; and servers that speak only one protocol.

#include <gtest/gtest.h>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/live/client/shared_logins.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"

namespace sheaf {
namespace {

using namespace std::chrono_literals;
using test::MemcachedOptions;
using test::MemcachedProcess;
using LogIn = MemcachedOptions::LogIn;

struct Way {
  std::string name;
  LogIn log_in;
  std::string protocol;
};

class LogIns : public testing::TestWithParam<Way> {
 protected:
  std::string address() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  // `user` is written as in a URI, with the "@".
  Client open_as(const std::string& user) const {
    // The time for calls without one is also that for a server's first answer.
    return test::open("memcached://" + user + address() +
                      "?timeout=1s&protocol=" + GetParam().protocol);
  }
  // Expects that nothing was sent, that one sentence says why, and that it contains no password.
  void expect_refused(const std::string& user, Reason reason, std::string_view words) const {
    Client client = open_as(user);
    const auto refused = client.set("k", "v", {.timeout = 10s});
    ASSERT_FALSE(refused) << user;
    EXPECT_EQ(refused.error().outcome, Outcome::not_sent) << user;
    EXPECT_EQ(refused.error().reason, reason) << refused.error().message();
    EXPECT_EQ(refused.error().node, address());
    EXPECT_LT(refused.error().elapsed, 9s) << user;  // reported before the timeout
    EXPECT_NE(refused.error().text.find(words), std::string::npos) << refused.error().message();
    for (const char* secret : {"blunder", "s3cret"}) {
      EXPECT_EQ(refused.error().message().find(secret), std::string::npos);
    }
  }

 private:
  const test::Lent<MemcachedProcess> server_{test::memcached_with_logins(GetParam().log_in)};
};

std::string name_of(const testing::TestParamInfo<Way>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(By, LogIns,
                         testing::Values(Way{"SaslInBinary", LogIn::sasl, "binary"},
                                         Way{"SaslFoundOut", LogIn::sasl, "auto"},
                                         Way{"TextInMeta", LogIn::text, "meta"},
                                         Way{"TextFoundOut", LogIn::text, "auto"}),
                         name_of);

TEST_P(LogIns, RightPasswordsAreLetInAndSeeTheSameValues) {
  Client client = open_as("cache:s3cret@");
  ASSERT_TRUE(client.set("k", "v", {.timeout = 10s}).value().stored);
  EXPECT_EQ(client.get("k").value()->data, "v");
  EXPECT_EQ(client.increment("n", 1, {.initial = 4}).value(), 4u);
  Client other = open_as("other:word@");
  EXPECT_EQ(other.get("k", {.timeout = 10s}).value()->data, "v");
}

TEST_P(LogIns, WrongOnesAreOneClearError) {
  constexpr std::string_view words = "the server refused the log-in (";
  expect_refused("cache:blunder@", Reason::authentication, words);
  expect_refused("cache:word@", Reason::authentication, words);  // another user's password
  expect_refused("nobody:s3cret@", Reason::authentication, words);
  expect_refused("", Reason::authentication, "the server requires a user name and a password");
}

// A refused client must not keep the others out.
TEST_P(LogIns, AWrongPasswordIsReportedAgainAndDisturbsNobody) {
  Client good = open_as("cache:s3cret@");
  Client bad = open_as("cache:blunder@");
  good.set("k", "v", {.timeout = 10s}).value();
  for (int i = 0; i < 10; ++i) {
    const auto refused = bad.get("k", {.timeout = 10s});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Reason::authentication) << refused.error().message();
    EXPECT_EQ(good.get("k").value()->data, "v");
  }
}

class WrongProtocol : public LogIns {};

INSTANTIATE_TEST_SUITE_P(For, WrongProtocol,
                         testing::Values(Way{"Sasl", LogIn::sasl, "meta"},
                                         Way{"Text", LogIn::text, "binary"}),
                         name_of);

// Such a server says nothing at all, even with the right password.
TEST_P(WrongProtocol, IsOneClearErrorBeforeTheDeadline) {
  for (const char* user : {"cache:s3cret@", ""}) {
    expect_refused(user, Reason::node_down, "connected, but no answer to the log-in");
  }
}

TEST(Protocols, AServerThatSpeaksOnlyOneIsFoundOut) {
  for (const char* protocol : {"ascii", "binary"}) {
    MemcachedOptions options;
    options.arguments = {"-B", protocol};
    const test::Lent<MemcachedProcess> server(options);
    Client client = test::open("memcached://127.0.0.1:" + std::to_string(server->port()));
    const auto stored = client.set("k", "v", {.timeout = 10s});
    ASSERT_TRUE(stored) << protocol << ": " << stored.error().message();
    EXPECT_EQ(client.get("k").value()->data, "v");
    EXPECT_EQ(client.stats().front().connects, 1u);
    EXPECT_EQ(client.stats().front().connect_failures, 0u) << "finding out is no fault";
  }
}

TEST(Protocols, APasswordForAServerThatWantsNoneIsOneClearError) {
  const test::Lent<MemcachedProcess> server;
  for (const auto& [protocol, words] :
       {std::pair("auto", "SASL is off"), std::pair("binary", "SASL is off"),
        std::pair("meta", "-Y is off")}) {
    Client client =
        test::open("memcached://cache:s3cret@127.0.0.1:" + std::to_string(server->port()) +
                   "?protocol=" + protocol);
    const auto refused = client.get("k", {.timeout = 10s});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().outcome, Outcome::not_sent);
    EXPECT_EQ(refused.error().reason, Reason::authentication);
    EXPECT_LT(refused.error().elapsed, 9s);
    EXPECT_NE(refused.error().text.find(words), std::string::npos) << refused.error().message();
  }
}

}  // namespace
}  // namespace sheaf
#endif
