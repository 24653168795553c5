#pragma once

// Where the contract suite runs: each endpoint is made fresh for a test and ends with it.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
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

struct EndpointFactory {
  std::string name;
  std::function<std::unique_ptr<Endpoint>()> make;
};

// embedded://3 and, where the broker is installed, three brokers; both spellings of each.
std::vector<EndpointFactory> endpoint_factories();

// Opens a client or fails the test with the reason.
inline Client open(const std::string& uri, ClientOptions options = {}) {
  auto client = Client::open(uri, std::move(options));
  if (!client) throw std::runtime_error(client.error().message());
  return std::move(*client);
}

}  // namespace sheaf::test
