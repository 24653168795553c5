#pragma once

// Makes the memcached sessions of a cluster, in the protocol that is configured. With
// `protocol=auto` the first connection to a node finds out: without a password meta is tried first,
// with one binary (whose log-in a server that wants the other kind never sees); what is not
// understood goes the other way at once.
//
// Thread rule: belongs to one lane.

#include <memory>
#include <vector>

#include <sheaf/cluster_config.h>

#include "node/session_factory.h"

namespace sheaf::client {

class MemcachedSessions final : public node::SessionFactory {
 public:
  explicit MemcachedSessions(const ClusterConfig& config);
  ~MemcachedSessions() override;
  std::unique_ptr<protocol::Session> make(unsigned node, Now now) override;

  // What is known of a node.
  struct Choice {
    bool other = false;   // the protocol that is not tried first
    bool proven = false;  // a connection of this choice has been ready
  };

 private:
  ClusterConfig config_;
  std::vector<std::unique_ptr<Choice>> choices_;  // by node
};

}  // namespace sheaf::client
