#include "client/runtime/features.h"

#include "client/runtime/outcomes.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::runtime {
namespace {

bool lost_by_rehash(const ClusterConfig& config, const protocol::EndpointTraits& traits,
                    Feature feature) noexcept {
  return config.failover == FailoverMode::rehash && traits.one_home.has(feature);
}

}  // namespace

bool supports(const ClusterConfig& config, Feature feature) noexcept {
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  return traits.features.has(feature) && !lost_by_rehash(config, traits, feature);
}

std::optional<Error> check_feature(const ClusterConfig& config, Feature feature) {
  if (supports(config, feature)) return std::nullopt;
  std::string text;
  if (lost_by_rehash(config, protocol::traits_of(config.kind), feature)) {
    text = "failover=rehash, under which a key may be on two nodes, does not support ";
    text.append(to_string(feature));
    return local_error(Outcome::unsupported, Reason::bad_argument, std::move(text));
  }
  text.append(to_string(config.kind)).append(":// does not support ").append(to_string(feature));
  const std::string others = protocol::list_schemes("://", feature);
  if (!others.empty()) text.append("; only ").append(others).append(" does");
  return local_error(Outcome::unsupported, Reason::bad_argument, std::move(text));
}

}  // namespace sheaf::client::runtime

namespace sheaf {
inline namespace v0 {

std::string_view to_string(Feature feature) noexcept {
  switch (feature) {
    case Feature::fencing:
      return "fencing tokens";
    case Feature::ordered_versions:
      return "versions that show which value is newer";
    case Feature::if_absent_or_equal:
      return "set if absent or equal";
    case Feature::if_value:
      return "remove if value";
    case Feature::if_present:
      return "set if present";
    case Feature::if_version:
      return "set and remove if version";
    case Feature::edits:
      return "append and prepend";
    case Feature::counters:
      return "counters";
    case Feature::touch:
      return "touch and get and touch";
    case Feature::get_and_set:
      return "get and set";
    case Feature::flags:
      return "flags with the value";
    case Feature::persist:
      return "keys that are kept on disk";
    case Feature::millisecond_ttl:
      return "time to live in ms";
    case Feature::ttl_left:
      return "remaining time to live";
    case Feature::rehash:
      return "failover to other nodes";
    case Feature::clock:
      return "clock of a node";
    case Feature::server_stats:
      return "statistics of the servers";
    case Feature::watch:
      return "watches";
    case Feature::lists:
      return "lists";
    case Feature::locks:
      return "locks";
    case Feature::commands:
      return "commands of the server";
  }
  return "unknown";
}

}  // namespace v0
}  // namespace sheaf
