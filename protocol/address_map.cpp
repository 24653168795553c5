// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/address_map.h"

#include <algorithm>
#include <utility>

#include "base/server_names.h"
#include "base/text.h"

namespace sheaf::protocol {
namespace {

constexpr std::size_t most_pairs = 16'384;  // as many as slots

// HOST[:PORT] or [IPV6][:PORT]
std::optional<NodeConfig> read(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  if (bracketed && text.find(']') == text.npos) return std::nullopt;
  std::string_view host;
  if (bracketed) {
    text.remove_prefix(1);
    host = take_until(text, ']');
    if (!text.empty() && text.front() != ':') return std::nullopt;
  } else {
    host = text.substr(0, text.find(':'));
    text.remove_prefix(host.size());
  }
  if (server_names::fault_of_host(host, bracketed)) return std::nullopt;
  if (text.empty()) return NodeConfig{std::string(host), 0, 1};
  const auto port = parse_decimal(text.substr(1));
  if (!port || *port == 0 || *port > 65'535) return std::nullopt;
  return NodeConfig{std::string(host), static_cast<std::uint16_t>(*port), 1};
}

}  // namespace

std::expected<AddressMap, std::string> AddressMap::parse(std::string_view text) {
  AddressMap map;
  while (!text.empty()) {
    const std::string_view pair = take_until(text, ',');
    const auto wrong = [&](std::string_view what) {
      return std::unexpected(printable(pair) + " " + std::string(what));
    };
    std::string_view rest = pair;
    const auto announced = read(take_until(rest, '='));
    const auto reachable = read(rest);
    if (!announced || !reachable) return wrong("is not HOST[:PORT]=HOST[:PORT]");
    if (announced->port == 0 && reachable->port != 0) {
      return wrong("leads every port of a host to one port");
    }
    Pair made{server_names::folded(announced->host), announced->port, *reachable};
    const bool twice = std::ranges::any_of(map.pairs_, [&](const Pair& other) {
      return other.host == made.host && other.port == made.port;
    });
    if (twice) return wrong("names an address for the second time");
    if (map.pairs_.size() == most_pairs) return wrong("is above the limit of 16384 pairs");
    map.pairs_.push_back(std::move(made));
  }
  return map;
}

std::optional<NodeConfig> AddressMap::find(std::string_view host, std::uint16_t port) const {
  if (pairs_.empty()) return std::nullopt;
  const std::string name = server_names::folded(host);
  const auto at = [&](std::uint16_t announced) {
    return std::ranges::find_if(
        pairs_, [&](const Pair& pair) { return pair.host == name && pair.port == announced; });
  };
  auto found = at(port);
  if (found == pairs_.end()) found = at(0);
  if (found == pairs_.end()) return std::nullopt;
  NodeConfig server = found->reachable;
  if (server.port == 0) server.port = port;
  return server;
}

std::vector<NodeConfig> AddressMap::reachable() const {
  std::vector<NodeConfig> servers;
  for (const Pair& pair : pairs_) servers.push_back(pair.reachable);
  return servers;
}

}  // namespace sheaf::protocol
