#pragma once

// Where the contract suite runs. Each endpoint is created for one test and ends with it.

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

// Three nodes.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual std::string uri() const = 0;
};

// Differences between kinds of endpoint that Client::supports does not report.
struct Limits {
  std::size_t key = 65'000;          // longest key in bytes
  std::size_t binary_key = 65'000;   // the same with blanks or control characters
  std::size_t value = 16u << 20;     // longest value
  std::chrono::milliseconds ttl{1};  // shortest time to live
  std::chrono::seconds pushes{15};   // for eight clients that push 1,000 items each to one list
};

struct EndpointFactory {
  std::string name;
  std::function<std::unique_ptr<Endpoint>()> make;
  Limits limits{};
};

// tests/suites.cmake says where each of them runs.
//
// State stores: embedded://3 and, if the broker is installed, three brokers, in both spellings
// each. Also brokers over TLS that demand certificates, if this build has TLS.
std::vector<EndpointFactory> endpoint_factories();
// Three memcached servers, if installed: both protocols, and over TLS.
std::vector<EndpointFactory> memcached_factories();
// Three independent redis-servers, or servers that usual_software() names, if installed: unchanged;
// in RESP2, because they refuse HELLO; with changes as transactions, because they refuse scripts;
// and over TLS.
std::vector<EndpointFactory> redis_factories();
// A cluster of three primaries and three replicas, if the environment variable SHEAF_TEST_CLUSTER
// is "redis", "valkey" or "garnet". Forming one takes seconds, so all tests of a process share it,
// empty at first.
std::vector<EndpointFactory> cluster_factories();
// All endpoints.
std::vector<EndpointFactory> all_factories();
// Endpoints with watches.
std::vector<EndpointFactory> watch_factories();

// Opens a client, or fails the test and gives the reason.
inline Client open(const std::string& uri, ClientOptions options = {}) {
  auto client = Client::open(uri, std::move(options));
  if (!client) throw std::runtime_error(client.error().message());
  return std::move(*client);
}

// A test with its own endpoint and a client of it.
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
