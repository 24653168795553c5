#pragma once

// A state store on a simulated port: the real engine and the real MQTT 5 server sessions.
//
// Thread rule: one thread.

#include <memory>

#include "store/server/host.h"
#include "tests/sim/kit/server_log.h"
#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

class SimStore {
 public:
  explicit SimStore(store::server::HostOptions options = {}) : options_(std::move(options)) {}
  SimStore(const SimStore&) = delete;
  SimStore& operator=(const SimStore&) = delete;

  // For SimNetwork::add_server. The store outlives the server. Several servers may be front ends of
  // one store that keeps its data.
  SimServer::Start start();

  // State that the running process, or the last one that ran, keeps in memory.
  const store::Engine& engine() const { return host_->engine(); }
  store::server::Host& host() { return *host_; }

  // True if the data survive a crash (a store that writes them to disk), false if they are lost (a
  // store that keeps them in memory, as ours does).
  bool keep_data = false;
  ServerLog* log = nullptr;  // gets every value that is stored

 private:
  store::server::HostOptions options_;
  std::shared_ptr<store::server::Host> host_;
  std::shared_ptr<class StorePeers> peers_;  // of the host
};

}  // namespace sheaf::sim
