#pragma once

// Makes the memcached sessions of a cluster, in the protocol that is configured. With
// `protocol=auto` the first connection to a node finds out. Without a password meta is tried first;
// what is not understood, or not answered in 3/4 of `connect_timeout`, goes the other way. With
// one a connection that is thrown away asks for the version in binary: who answers takes SASL, who
// answers in text takes `-Y`, and no password is shown to a server that takes it the other way.
//
// Thread rule: belongs to one lane.

#include <cstdint>
#include <memory>
#include <vector>

#include <sheaf/cluster_config.h>

#include "node/session_factory.h"

namespace sheaf::client::runtime {

class MemcachedSessions final : public node::SessionFactory {
 public:
  explicit MemcachedSessions(const ClusterConfig& config);
  ~MemcachedSessions() override;
  std::unique_ptr<protocol::Session> make(unsigned node, Now now) override;
  std::unique_ptr<node::SessionFactory> another() const override;
  bool lists(std::string_view key) const noexcept override;

  // What is known of a node.
  struct Choice {
    enum class LogIn : std::uint8_t { unknown, sasl, text };
    LogIn log_in = LogIn::unknown;  // with a password only
    bool other = false;             // binary, which is not tried first
    bool proven = false;            // a connection of this choice has been ready
  };

 private:
  ClusterConfig config_;
  std::vector<std::unique_ptr<Choice>> choices_;  // by node
};

}  // namespace sheaf::client::runtime
