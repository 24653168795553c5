#pragma once

// What a source of servers lists, as servers of a configuration: in one order whatever the order of
// the list, each once, and each one that a configuration may have.
//
// Thread rule: pure functions.

#include <expected>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

#include "protocol/dns/message.h"
#include "protocol/memcached/fleet_inquiry.h"

namespace sheaf::cluster {

// Servers, or one sentence that says what is wrong with the list.
using FoundServers = std::expected<std::vector<NodeConfig>, std::string>;

// The records of the lowest priority, RFC 2782. The weight 0 becomes 1. Of two for one server the
// larger weight counts.
FoundServers servers_of_records(const std::vector<protocol::dns::SrvRecord>& records);
FoundServers servers_of_fleet(const protocol::memcached::Fleet& fleet);

// Whether two lists in that order are the same.
bool same_servers(const std::vector<NodeConfig>& left, const std::vector<NodeConfig>& right);

}  // namespace sheaf::cluster
