// Names with two addresses, of which the first is silent: a broken path, a host that was drained.
// Every kind of endpoint is reached at the other one, and so is a server that comes back.

#include <gtest/gtest.h>

#ifdef SHEAF_TEST_MEMCACHED_SERVERS
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sheaf/client.h>

#include "tests/contract/endpoints.h"
#include "tests/support/lent.h"
#include "tests/support/memcached_process.h"
#include "tests/support/names.h"
#include "tests/support/silent_server.h"

namespace sheaf::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view first_host = "127.0.0.1:";
const std::string two = "two.sheaf.test";

// The same servers by a name whose first address is silent.
class ByName {
 public:
  // Throws std::runtime_error if another process has one of the ports at that address.
  explicit ByName(std::string uri) {
    for (std::size_t at = 0; (at = uri.find(first_host, at)) != uri.npos; at += two.size()) {
      const std::string port = uri.substr(at + first_host.size());
      silent_.push_back(
          std::make_unique<SilentServer>("127.0.0.4", static_cast<std::uint16_t>(std::stoi(port))));
      uri.replace(at, first_host.size(), two + ":");
    }
    uri_ = std::move(uri);
    Names::instance().lead(two, {"127.0.0.4", "127.0.0.1"});
  }
  const std::string& uri() const { return uri_; }
  std::size_t servers() const { return silent_.size(); }

 private:
  std::vector<std::unique_ptr<SilentServer>> silent_;
  std::string uri_;
};

std::vector<EndpointFactory> plain_servers() {
  auto factories = all_factories();
  std::erase_if(factories, [](const EndpointFactory& factory) {
    const bool kind = factory.name == "Brokers" || factory.name == "MemcachedMeta" ||
                      factory.name == "MemcachedBinary" || factory.name == "RedisServers";
    return !kind;
  });
  return factories;
}

class SilentFirstAddress : public testing::TestWithParam<EndpointFactory> {};

INSTANTIATE_TEST_SUITE_P(All, SilentFirstAddress, testing::ValuesIn(plain_servers()),
                         [](const auto& test) { return test.param.name; });

TEST_P(SilentFirstAddress, DoesNotHideTheServer) {
  const auto endpoint = GetParam().make();
  const ByName named(endpoint->uri());
  ASSERT_EQ(named.servers(), 3u) << endpoint->uri();
  auto client = Client::open(named.uri()).value();
  for (int i = 0; i < 20; ++i) {
    const std::string key = "key" + std::to_string(i);
    const auto set = client.set(key, "value", {.timeout = 10s});
    ASSERT_TRUE(set) << set.error().message();
    const auto got = client.get(key, {.timeout = 10s});
    ASSERT_TRUE(got) << got.error().message();
  }
  for (const NodeReport& node : client.check_nodes({.timeout = 10s})) {
    EXPECT_FALSE(node.error) << node.error->message();
  }
}

TEST(SilentAddressOfOne, DoesNotHideItWhenItIsBack) {
  Lent<MemcachedProcess> server;
  const ByName named("memcached://127.0.0.1:" + std::to_string(server->port()));
  auto client = Client::open(named.uri()).value();
  ASSERT_TRUE(client.set("key", "value", {.timeout = 10s}));
  server.to_break().kill();
  while (client.stats()[0].health != NodeHealth::down) {
    ASSERT_FALSE(client.get("key", {.timeout = 1s}));
  }
  server.to_break().restart();
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!client.set("key", "value", {.timeout = 1s})) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << client.stats()[0].node << " stays down";
  }
}

}  // namespace
}  // namespace sheaf::test
#endif
