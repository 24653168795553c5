// A unique password and a unique value must appear in nothing that clients of real servers report:
// not to their users, not in the log and not in statistics.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/live/client/shared_logins.h"
#include "tests/support/everything_said.h"

#ifdef SHEAF_TEST_BROKERS
#include "tests/support/broker_process.h"
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
#include "tests/support/redis_process.h"
#endif

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

struct Locked {
  std::uint16_t port = 0;
  std::function<void()> kill;
};

// A server that lets `app` in, with the password s3cret.
struct SecretKind {
  std::string name;
  std::string scheme;
  std::string options;
  std::function<Locked()> start;
};

template <class Process>
Locked borrow(const typename Process::Options& options) {
  const auto lent = std::make_shared<Lent<Process>>(options);
  return {(*lent)->port(), [lent] { lent->to_break().kill(); }};
}

std::vector<SecretKind> kinds() {
  return {
#ifdef SHEAF_TEST_BROKERS
      {"Mosquitto", "mqtt", "", [] { return borrow<BrokerProcess>(broker_with_a_login()); }},
#endif
#ifdef SHEAF_TEST_MEMCACHED_SERVERS
      {"Memcached", "memcached", "",
       [] {
         return borrow<MemcachedProcess>(memcached_with_logins(MemcachedOptions::LogIn::text));
       }},
#endif
#ifdef SHEAF_TEST_REDIS_SERVERS
      {"Redis", "redis", "?routing=ring",
       [] { return borrow<RedisProcess>(redis_with_a_login()); }},
#endif
  };
}

class LiveSecrets : public testing::TestWithParam<SecretKind> {
 protected:
  // Uses everything that a client offers.
  void use(Client& client) {
    const auto set = client.set("key", "canary-value", {.timeout = 2s});
    if (!set) said.add(set.error());
    const auto large = client.set("key", std::string(17u << 20, 'x') + "canary-value");
    if (!large) said.add(large.error());
    const auto longest = client.set(std::string(70'000, 'k'), "canary-value", {.timeout = 2s});
    if (!longest) said.add(longest.error());
    const auto many =
        client.get_many(std::vector<std::string_view>{"key", "other"}, {.timeout = 2s});
    for (const auto& each : many) {
      if (!each.result) said.add(each.result.error());
    }
    for (const NodeReport& report : client.check_nodes({.timeout = 2s})) {
      said.add(report.stats.node + " " + report.stats.user + " " + report.stats.tls);
      if (report.error) said.add(*report.error);
    }
  }
  EverythingSaid said;
};

INSTANTIATE_TEST_SUITE_P(All, LiveSecrets, testing::ValuesIn(kinds()),
                         [](const auto& test) { return test.param.name; });

TEST_P(LiveSecrets, AreInNothingThatAClientSays) {
  const Locked server = GetParam().start();
  const auto uri = [&](const std::string& login) {
    return GetParam().scheme + "://" + login + "@127.0.0.1:" + std::to_string(server.port) +
           GetParam().options;
  };
  {
    auto client = Client::open(uri("app:canary-wrong"), {.log = said.sink()}).value();
    use(client);
  }
  {
    auto client = Client::open(uri("app:s3cret"), {.log = said.sink()}).value();
    EXPECT_TRUE(client.set("key", "canary-value", {.timeout = 30s}));
    use(client);
    server.kill();
    use(client);
  }
  EXPECT_THAT(said.text(), HasSubstr("app"));
  EXPECT_THAT(said.text(), HasSubstr("#")) << "keys are hashes";
  EXPECT_THAT(said.text(), Not(HasSubstr("canary")));
  EXPECT_THAT(said.text(), Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace sheaf::test
