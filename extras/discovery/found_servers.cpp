#include "extras/discovery/found_servers.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/server_names.h"
#include "base/text.h"

namespace sheaf::discovery {
namespace {

// Sorts the servers and keeps each once. The larger weights come first, so they are kept.
FoundServers in_order(std::vector<NodeConfig> servers) {
  for (const NodeConfig& server : servers) {
    const std::string name = printable(join_host_port(server.host, server.port), 300);
    const bool ipv6 = server.host.find(':') != std::string::npos;
    if (auto fault = server_names::fault_of_host(server.host, ipv6)) {
      return std::unexpected("the list names " + name + ": " + *fault);
    }
    if (server.port == 0) return std::unexpected("the list names " + name + ", without a port");
  }
  std::ranges::sort(servers, {}, [](const NodeConfig& server) {
    return std::tuple(std::string_view(server.host), server.port, 65'535u - server.weight);
  });
  const auto again = std::ranges::unique(servers, {}, [](const NodeConfig& server) {
    return std::pair(std::string_view(server.host), server.port);
  });
  servers.erase(again.begin(), again.end());
  if (servers.size() > server_names::max_nodes) {
    return std::unexpected("the list has " + std::to_string(servers.size()) +
                           " servers, but a cluster has at most " +
                           std::to_string(server_names::max_nodes));
  }
  return servers;
}

}  // namespace

FoundServers servers_of_records(const std::vector<dns::SrvRecord>& records) {
  using dns::SrvRecord;
  if (records.empty()) return std::unexpected("the list has no server");
  const std::uint16_t first = std::ranges::min(records, {}, &SrvRecord::priority).priority;
  std::vector<NodeConfig> servers;
  for (const SrvRecord& record : records) {
    if (record.priority != first) continue;
    if (record.target.empty()) {
      return std::unexpected(
          "the service is not available there (the target of a record is \".\")");
    }
    servers.push_back({record.target, record.port, std::max<std::uint32_t>(record.weight, 1)});
  }
  return in_order(std::move(servers));
}

FoundServers servers_of_fleet(const Fleet& fleet) {
  std::vector<NodeConfig> servers;
  for (const auto& [host, port] : fleet.servers) {
    servers.push_back({server_names::folded(host), port, 1});
  }
  if (servers.empty()) return std::unexpected("the list has no server");
  return in_order(std::move(servers));
}

bool same_servers(const std::vector<NodeConfig>& left, const std::vector<NodeConfig>& right) {
  return std::ranges::equal(left, right, [](const NodeConfig& one, const NodeConfig& other) {
    return one.host == other.host && one.port == other.port && one.weight == other.weight;
  });
}

}  // namespace sheaf::discovery
