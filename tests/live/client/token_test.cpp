// Enhanced authentication on a real broker: tokens from a file, and another token on the live
// connection.

#ifdef SHEAF_TEST_BROKERS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/client.h>

#include "tests/support/broker_process.h"
#include "tests/support/lent.h"
#include "tests/support/printed_log.h"
#include "tests/support/secret_folder.h"
#include "tests/support/steady_load.h"
#include "tests/support/wait_for_condition.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

std::string token(unsigned n) { return "canary-" + std::to_string(n); }

class Tokens : public testing::Test {
 protected:
  explicit Tokens(bool twice = false) {
    valid({token(0)});
    BrokerOptions options;
    options.tokens = list().path();
    options.tokens_twice = twice;
    broker.emplace(std::move(options));
  }
  // A file that the brokers of all tests read.
  static SecretFolder& list() {
    static SecretFolder all("");
    return all;
  }
  // Sets the tokens that the broker accepts from now on.
  void valid(const std::vector<std::string>& tokens) {
    std::string lines;
    for (const std::string& each : tokens) lines += each + "\n";
    list().rotate(lines);
  }
  std::string uri(const std::string& more = "") const {
    return "mqtt://127.0.0.1:" + std::to_string((*broker)->port()) +
           "?token_file=" + secret.path() + more;
  }
  // How often a client with the token was accepted, or refused.
  unsigned times(const std::string& what) const {
    const std::string log = (*broker)->log();
    unsigned count = 0;
    for (std::size_t at = log.find(what); at != log.npos; at = log.find(what, at + 1)) ++count;
    return count;
  }
  static void wait_for_refusal(Client& client, std::string_view says) {
    wait_for_condition("the refusal", [&] {
      const auto got = client.get("k");
      return !got && got.error().reason == Reason::authentication &&
             got.error().text.contains(says) && !got.error().text.contains("canary-");
    });
  }

  SecretFolder secret{token(0)};
  std::optional<Lent<BrokerProcess>> broker;
};

struct TokensTwice : Tokens {
  TokensTwice() : Tokens(true) {}
};

TEST_F(Tokens, TheRightOneLetsAClientIn) {
  auto client = Client::open(uri(), {.log = printed_log()}).value();
  ASSERT_TRUE(client.set("k", "v", {.timeout = 30s}));
  EXPECT_EQ(client.get("k").value().value().data, "v");
  EXPECT_EQ(times("showed canary-0"), 1u);
}

TEST_F(Tokens, TwentyAreRenewedOnTheLiveConnectionUnderLoad) {
  auto client = Client::open(uri("&timeout=30s"), {.log = printed_log()}).value();
  ASSERT_TRUE(client.set("k", "v", {.timeout = 30s}));
  SteadyLoad load(client, 2);
  for (unsigned n = 1; n <= 20; ++n) {
    valid({token(n - 1), token(n)});
    secret.rotate(token(n));
    wait_for_condition("the renewal", [&] { return times("showed " + token(n)) > 0; });
    valid({token(n)});
  }
  EXPECT_THAT(load.stop(), testing::IsEmpty());
  EXPECT_GT(load.calls(), 1'000u);
  EXPECT_EQ(client.stats().at(0).connects, 1u) << "all on one connection";
  EXPECT_EQ(times("was refused"), 0u);
  EXPECT_EQ(times("New client connected"), 1u);
}

TEST_F(Tokens, AWrongOneIsRefusedAndTheRightOneHeals) {
  secret.rotate("wrong");
  auto client = Client::open(uri(), {.log = printed_log()}).value();
  wait_for_refusal(client, "the server refused the connection: not authorized");
  secret.rotate(token(0));
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
}

TEST_F(Tokens, ARefusedRenewalEndsTheConnectionAndTheRightOneHeals) {
  auto client = Client::open(uri(), {.log = printed_log()}).value();
  ASSERT_TRUE(client.set("k", "v", {.timeout = 30s}));
  secret.rotate("wrong");
  wait_for_refusal(client, "not authorized");
  EXPECT_EQ(client.stats().at(0).connects, 1u);
  EXPECT_GT(times("was refused with wrong"), 0u);
  secret.rotate(token(0));
  wait_for_condition("a login", [&] { return client.get("k").has_value(); });
}

TEST_F(Tokens, AMethodThatTheBrokerDoesNotKnowIsRefused) {
  auto client = Client::open(uri("&auth_method=OTHER"), {.log = printed_log()}).value();
  wait_for_refusal(client, "bad authentication method");
}

TEST_F(Tokens, WithoutOneNobodyIsLetIn) {
  auto client = Client::open("mqtt://127.0.0.1:" + std::to_string((*broker)->port()) + "").value();
  wait_for_refusal(client, "the server refused the connection");
}

TEST_F(TokensTwice, ABrokerMayAskForEachOnceMore) {
  auto client = Client::open(uri(), {.log = printed_log()}).value();
  const auto stored = client.set("k", "v", {.timeout = 30s});
  ASSERT_TRUE(stored) << stored.error().message() << (*broker)->log();
  EXPECT_EQ(times("showed canary-0"), 2u);
  valid({token(0), token(1)});
  secret.rotate(token(1));
  wait_for_condition("the renewal", [&] { return times("showed canary-1") == 2; });
  EXPECT_TRUE(client.get("k"));
  EXPECT_EQ(client.stats().at(0).connects, 1u);
}

}  // namespace
}  // namespace sheaf::test

#endif
