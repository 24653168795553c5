#pragma once

// A memcached server on a simulated port: the meta protocol as far as our sessions use it, over a
// CacheTable. A process that starts again knows nothing and counts versions from 1.
//
// Thread rule: one thread.

#include <memory>

#include "tests/sim/kit/server_log.h"
#include "tests/sim/kit/sim_cache.h"
#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

class SimMemcached {
 public:
  SimMemcached() = default;
  SimMemcached(const SimMemcached&) = delete;
  SimMemcached& operator=(const SimMemcached&) = delete;

  // For SimNetwork::add_server. This object outlives the server.
  SimServer::Start start();

  CacheTable& table() { return table_; }

  ServerLog* log = nullptr;  // gets every value that is stored

 private:
  CacheTable table_;
};

}  // namespace sheaf::sim
