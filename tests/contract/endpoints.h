#pragma once

// Where the contract suite runs. An endpoint is empty when a test gets it; its servers are lent
// (tests/support/lent.h).

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sheaf/client.h>

namespace sheaf::test {

// A test fails if what it waits for does not come in this time.
inline constexpr std::chrono::seconds soon{20};
// The lease of a lock or a leader that must be kept. A machine that stalls for two thirds of it
// loses the lock.
inline constexpr std::chrono::seconds kept_lease{3};

// Three nodes.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual std::string uri() const = 0;
};

// Differences between kinds of endpoint that Client::supports does not report.
struct Limits {
  std::size_t key = 65'000;          // longest key, bytes
  std::size_t binary_key = 65'000;   // with blanks or control characters in it
  std::size_t value = 16u << 20;     // longest value
  std::chrono::milliseconds ttl{1};  // shortest time to live
  std::chrono::seconds pushes{15};   // for eight clients that push 1,000 items each to one list
};

struct EndpointFactory {
  std::string name;
  std::function<std::unique_ptr<Endpoint>()> make;
  Limits limits{};
};

// tests/suites.cmake says which of them run where.
//
// State stores: embedded://3 and, where the broker is installed, three brokers; both spellings of
// each. Brokers over TLS that demand certificates, too, where this build has TLS.
std::vector<EndpointFactory> endpoint_factories();
// Three memcached servers, where it is installed; both protocols, and over TLS.
std::vector<EndpointFactory> memcached_factories();
// Three redis-servers, where it is installed, or what usual_software() names, that know nothing of
// each other: as they are, in RESP2 because they refuse HELLO, where changes are transactions
// because they refuse scripts, and over TLS.
std::vector<EndpointFactory> redis_factories();
// A cluster of three primaries and three replicas, if SHEAF_TEST_CLUSTER is in the environment:
// "redis", "valkey" or "garnet". To form one takes seconds, so all tests of a process share it,
// empty at first.
std::vector<EndpointFactory> cluster_factories();
// All of them.
std::vector<EndpointFactory> all_factories();
// Those with watches.
std::vector<EndpointFactory> watch_factories();

// The URI with a time for calls that a busy machine, which may pause for a second, does not use up;
// unchanged if it names one.
inline std::string patient(const std::string& uri) {
  if (uri.find("?timeout=") != uri.npos || uri.find("&timeout=") != uri.npos) return uri;
  return uri + (uri.find('?') == uri.npos ? "?" : "&") + "timeout=10s";
}

// Opens a client with a patient() URI, or fails the test with the reason.
inline Client open(const std::string& uri, ClientOptions options = {}) {
  auto client = Client::open(patient(uri), std::move(options));
  if (!client) throw std::runtime_error(client.error().message());
  return std::move(*client);
}

// A test with an endpoint of its own, and a client of it.
class OnEndpoint : public testing::TestWithParam<EndpointFactory> {
 protected:
  void SetUp() override {
    endpoint = GetParam().make();
    client.emplace(open(endpoint->uri()));
  }
  std::unique_ptr<Endpoint> endpoint;
  std::optional<Client> client;
};

}  // namespace sheaf::test
