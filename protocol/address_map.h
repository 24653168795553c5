#pragma once

// AddressMap: where the servers of a cluster are reached that announce addresses of a network of
// their own (containers, NAT). It is the option `address_map`:
//
//   10.0.0.5:7000=gate.example:17000,10.0.0.6=192.0.2.6
//
// Each pair is ANNOUNCED=REACHABLE. Without a port ANNOUNCED means every port of the host, and
// REACHABLE the announced port. A pair with a port goes before one without. IPv6 has brackets.
//
// Thread rule: immutable once made; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/cluster_config.h>

namespace sheaf::protocol {

class AddressMap {
 public:
  AddressMap() = default;  // every server is reached where it says
  // The error says which pair is wrong, and why, in one clause.
  static std::expected<AddressMap, std::string> parse(std::string_view text);

  // The announced host may be in any case.
  std::optional<NodeConfig> find(std::string_view host, std::uint16_t port) const;
  // The hosts that lead to servers.
  std::vector<NodeConfig> reachable() const;

 private:
  struct Pair {
    std::string host;  // lower case
    std::uint16_t port = 0;
    NodeConfig reachable;  // port 0: the announced one
  };
  std::vector<Pair> pairs_;
};

}  // namespace sheaf::protocol
