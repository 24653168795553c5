#pragma once

// Many keys and the servers that a locator gives them, to compare with those of another client.

#include <string>

#include "cluster/placement/locator.h"

namespace sheaf::cluster {

constexpr unsigned route_keys = 20'000;

// A tenth of the keys are not ASCII, because clients hash such bytes differently.
inline std::string ring_key(unsigned i) {
  return (i % 10 == 9 ? "k\xc3\xa9y-" : "key-") + std::to_string(i);
}

// The position of each key's server, one digit each.
inline std::string route(const ClientNodeLocator& locator) {
  std::string nodes;
  for (unsigned i = 0; i < route_keys; ++i) {
    nodes += static_cast<char>('0' + locator.locate(ring_key(i)).node);
  }
  return nodes;
}

}  // namespace sheaf::cluster
