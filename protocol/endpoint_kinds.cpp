// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/endpoint_kinds.h"

#include <algorithm>
#include <array>
#include <vector>

#include "protocol/memcached/header.h"
#include "protocol/memcached/rules.h"
#include "protocol/memcached/sessions.h"
#include "protocol/resp/changes/rules.h"
#include "protocol/resp/cluster/cluster_map.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/sessions.h"
#include "protocol/statestore/clock.h"
#include "protocol/statestore/sessions.h"

namespace sheaf::protocol {
namespace {

std::unique_ptr<SessionFactory> store_sessions(const ClusterConfig& config, const Seed& seed) {
  return std::make_unique<statestore::StoreSessions>(config, seed);
}

std::unique_ptr<SessionFactory> memcached_sessions(const ClusterConfig& config, const Seed&) {
  return std::make_unique<memcached::MemcachedSessions>(config);
}

std::unique_ptr<SessionFactory> redis_sessions(const ClusterConfig& config, const Seed&) {
  return std::make_unique<resp::RespSessions>(config);
}

std::unique_ptr<ServerMap> redis_map(const ClusterConfig& config) {
  if (config.routing == RoutingKind::ring) return nullptr;
  const auto addresses = AddressMap::parse(config.address_map);  // checked with the configuration
  return std::make_unique<resp::ClusterMap>(
      config.nodes,
      resp::MapRules{
          .hosts = config.hosts, .tls = config.tls, .addresses = addresses.value_or(AddressMap())});
}

std::unique_ptr<ServerCommands> redis_commands() { return std::make_unique<resp::CommandTable>(); }

std::uint64_t largest_item(const ClusterConfig& config, std::size_t key_size) {
  return memcached::max_value(config.item_size, key_size, 0);
}

constexpr FeatureSet store_features = {Feature::fencing,
                                       Feature::ordered_versions,
                                       Feature::if_absent_or_equal,
                                       Feature::if_value,
                                       Feature::persist,
                                       Feature::millisecond_ttl,
                                       Feature::rehash,
                                       Feature::clock,
                                       Feature::server_stats,
                                       Feature::watch,
                                       Feature::lists,
                                       Feature::locks};
// A fence, and what is built on fences, means nothing to a node that replaces another.
constexpr FeatureSet store_one_home = {Feature::fencing, Feature::watch, Feature::lists,
                                       Feature::locks};

constexpr FeatureSet memcached_features = {
    Feature::if_present,   Feature::if_version, Feature::edits,    Feature::counters,
    Feature::touch,        Feature::flags,      Feature::ttl_left, Feature::rehash,
    Feature::server_stats, Feature::lists,      Feature::locks};

constexpr FeatureSet redis_features = {Feature::if_absent_or_equal,
                                       Feature::if_value,
                                       Feature::if_present,
                                       Feature::if_version,
                                       Feature::edits,
                                       Feature::counters,
                                       Feature::touch,
                                       Feature::get_and_set,
                                       Feature::millisecond_ttl,
                                       Feature::rehash,
                                       Feature::server_stats,
                                       Feature::watch,
                                       Feature::lists,
                                       Feature::locks,
                                       Feature::commands};

// In the order in which sentences list them.
constexpr std::array table{
    EndpointTraits{
        .kind = EndpointKind::state_store,
        .scheme = "mqtt",
        .system = "azure.statestore",
        .transport = Transport::tcp,
        .default_port = 1883,
        .tls_scheme = "mqtts",
        .tls_port = 8883,
        .make_sessions = store_sessions,
        .features = store_features,
        .one_home = store_one_home,
        .compares = Compares::values,
        .options = OptionGroup::mqtt,
        .takes_tokens = true,
        .compare_versions = statestore::compare_versions,
    },
    EndpointTraits{
        .kind = EndpointKind::memcached,
        .scheme = "memcached",
        .system = "memcached",
        .transport = Transport::tcp,
        .default_port = 11'211,
        .tls_scheme = "memcacheds",
        .tls_port = 11'211,
        .make_sessions = memcached_sessions,
        .features = memcached_features,
        .compares = Compares::versions,
        .shortcuts = {Verb::lease},
        .lists_fleet = true,
        .longest_key = memcached::max_key_length,
        .largest_value = largest_item,
        .options = OptionGroup::memcached,
        .takes_extra_connections = true,
        .needs_user = true,
    },
    EndpointTraits{
        .kind = EndpointKind::embedded,
        .scheme = "embedded",
        .system = "azure.statestore",
        .transport = Transport::engines,
        .make_sessions = store_sessions,
        .features = store_features,
        .one_home = store_one_home,
        .compares = Compares::values,
        .options = OptionGroup::engines,
        .compare_versions = statestore::compare_versions,
    },
    EndpointTraits{
        .kind = EndpointKind::redis,
        .scheme = "redis",
        .system = "redis",
        .transport = Transport::tcp,
        .default_port = 6'379,
        .tls_scheme = "rediss",
        .tls_port = 6'379,
        .make_sessions = redis_sessions,
        .make_map = redis_map,
        .make_commands = redis_commands,
        .features = redis_features,
        .one_home = {Feature::watch},
        .compares = Compares::versions,
        .binds_connections = false,
        .longest_key = resp::longest_key,
        .options = OptionGroup::redis,
        .takes_extra_connections = true,
        .largest_merged_batch = 128,
    },
};

constexpr EndpointTraits unknown_kind{
    .kind = EndpointKind{255}, .scheme = "unknown", .system = "unknown"};

// "a, b or c": the schemes that `scheme_of` returns for the rows, without the empty ones.
template <class SchemeOf>
std::string list(std::string_view suffix, const SchemeOf& scheme_of) {
  std::vector<std::string_view> schemes;
  for (const EndpointTraits& row : endpoint_kinds()) {
    if (const std::string_view scheme = scheme_of(row); !scheme.empty()) schemes.push_back(scheme);
  }
  std::string text;
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    if (i > 0) text += i + 1 < schemes.size() ? ", " : " or ";
    text.append(schemes[i]).append(suffix);
  }
  return text;
}

}  // namespace

std::span<const EndpointTraits> product_kinds() noexcept { return table; }

const EndpointTraits& traits_of(EndpointKind kind) noexcept {
  const auto found = std::ranges::find(endpoint_kinds(), kind, &EndpointTraits::kind);
  return found == endpoint_kinds().end() ? unknown_kind : *found;
}

const EndpointTraits* find_scheme(std::string_view scheme) noexcept {
  const auto found = std::ranges::find_if(endpoint_kinds(), [&](const EndpointTraits& row) {
    return row.scheme == scheme || (!row.tls_scheme.empty() && row.tls_scheme == scheme);
  });
  return found == endpoint_kinds().end() ? nullptr : &*found;
}

std::string list_schemes(std::string_view suffix, std::optional<Feature> feature) {
  return list(suffix, [&](const EndpointTraits& row) {
    return !feature || row.features.has(*feature) ? row.scheme : std::string_view();
  });
}

std::string list_tls_schemes(std::string_view suffix) {
  return list(suffix, [](const EndpointTraits& row) { return row.tls_scheme; });
}

std::string list_schemes_with(OptionGroup group, std::string_view suffix) {
  if (group == OptionGroup::tls) return list_tls_schemes(suffix);
  return list(suffix, [&](const EndpointTraits& row) {
    return has_group(row, false, group) ? row.scheme : std::string_view();
  });
}

}  // namespace sheaf::protocol

namespace sheaf {
inline namespace v0 {

std::string_view to_string(EndpointKind kind) noexcept { return protocol::traits_of(kind).scheme; }

}  // namespace v0
}  // namespace sheaf
