#pragma once

// Turns the list of a source of servers into servers of a configuration: sorted whatever the order
// of the list, each server once, and only servers that a configuration may contain.
//
// Thread rule: pure functions.

#include <expected>
#include <string>
#include <vector>

#include <sheaf/cluster_config.h>

#include "extras/discovery/dns/message.h"
#include "extras/discovery/fleet_inquiry.h"

namespace sheaf::discovery {

// The servers, or one sentence that says what is wrong with the list.
using FoundServers = std::expected<std::vector<NodeConfig>, std::string>;

// The records of the lowest priority (RFC 2782). Weight 0 becomes 1. If a server has two records,
// the larger weight counts.
FoundServers servers_of_records(const std::vector<dns::SrvRecord>& records);
FoundServers servers_of_fleet(const Fleet& fleet);

// True if two such lists are equal.
bool same_servers(const std::vector<NodeConfig>& left, const std::vector<NodeConfig>& right);

}  // namespace sheaf::discovery
