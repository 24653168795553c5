#pragma once

// A state store behind a simulated port: the real engine and the real MQTT 5 server sessions.
//
// Thread rule: one thread.

#include <memory>

#include "store/server/host.h"
#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

class SimStore {
 public:
  explicit SimStore(store::server::HostOptions options = {}) : options_(std::move(options)) {}
  SimStore(const SimStore&) = delete;
  SimStore& operator=(const SimStore&) = delete;

  // For SimNetwork::add_server; the store outlives the server. Several servers may be doors of one
  // store that keeps its data.
  SimServer::Start start();

  // What the process that runs, or ran last, keeps in memory.
  const store::Engine& engine() const { return host_->engine(); }
  store::server::Host& host() { return *host_; }

  // Whether the data live through a crash (a store that writes them down) or are lost (one that
  // keeps them in memory, as ours does).
  bool keep_data = false;

 private:
  store::server::HostOptions options_;
  std::shared_ptr<store::server::Host> host_;
  std::shared_ptr<class StorePeers> peers_;  // of the host
};

}  // namespace sheaf::sim
