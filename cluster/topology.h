#pragma once

// Who owns what, at one moment: an immutable snapshot with an epoch. An operation looks at one
// snapshot from its start to its end; a change makes a new one.
//
// Thread rule: immutable once made; any thread. Hand snapshots over under a mutex.
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/locator.h"

namespace sheaf::cluster {

// A server of the topology.
struct Worker {
  std::string identity;  // empty: unassigned
  std::uint32_t weight = 0;
  std::uint64_t epoch = 0;  // of the snapshot that brought it
};

class Topology {
 public:
  // From a checked configuration.
  static std::shared_ptr<const Topology> make(const ClusterConfig& config, std::uint64_t epoch = 1);

  std::uint64_t epoch() const noexcept { return epoch_; }
  Location locate(std::string_view key) const noexcept { return locator_->locate(key); }
  // The node alone; of one node nothing need be hashed.
  std::uint32_t owner(std::string_view key) const noexcept {
    return workers_.size() == 2 ? 0 : locator_->locate(key).node;
  }
  void owners(std::span<const std::string_view> keys,
              std::span<std::uint32_t> nodes) const noexcept {
    if (workers_.size() > 2) return locator_->owners(keys, nodes);
    std::ranges::fill(nodes, 0u);
  }
  const ClientNodeLocator& locator() const noexcept { return *locator_; }

  // Entry 0 stands for "nobody"; entry i + 1 is node i of the configuration.
  std::span<const Worker> workers() const noexcept { return workers_; }
  // The worker of every slot; empty where there are no slots (`ring`).
  std::span<const std::uint16_t> slots() const noexcept { return locator_->slots(); }
  // A node's identity.
  const std::string& identity(std::uint32_t node) const noexcept {
    return workers_[node + 1].identity;
  }

 private:
  Topology(const ClusterConfig& config, std::uint64_t epoch);

  std::uint64_t epoch_;
  std::vector<Worker> workers_;
  std::unique_ptr<const ClientNodeLocator> locator_;
};

}  // namespace sheaf::cluster
