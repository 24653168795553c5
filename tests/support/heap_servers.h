#pragma once

// The servers of a client whose heap is counted (counted_heap.h), as a URI.
//
// Thread rule: plain functions.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/memcached_process.h"

namespace sheaf::test {

// Servers that a client knows and never connects to.
inline std::string uri_of_unconnected(unsigned nodes) {
  std::string uri = "memcached://";
  for (unsigned i = 0; i < nodes; ++i) {
    uri += (i == 0 ? "127.1." : ",127.1.") + std::to_string(i / 250) + "." +
           std::to_string(i % 250 + 1) + ":11211";
  }
  return uri + "?pool_min=0";
}

// The first `count` of them; starts those that are missing.
inline std::string uri_of_started(std::vector<std::unique_ptr<MemcachedProcess>>& servers,
                                  std::size_t count) {
  while (servers.size() < count) servers.push_back(std::make_unique<MemcachedProcess>());
  std::string uri = "memcached://";
  for (std::size_t i = 0; i < count; ++i) {
    uri += (i == 0 ? "" : ",") + servers[i]->address() + ":" + std::to_string(servers[i]->port());
  }
  return uri;
}

}  // namespace sheaf::test
