#include "client/runtime/features.h"

namespace sheaf::client::runtime {
namespace {

bool store_has(Feature feature) noexcept {
  switch (feature) {
    case Feature::fencing:
    case Feature::ordered_versions:
    case Feature::if_absent_or_equal:
    case Feature::if_value:
    case Feature::millisecond_ttl:
    case Feature::clock:
    case Feature::watch:
    case Feature::lists:
    case Feature::locks:
      return true;
    case Feature::if_present:
    case Feature::if_version:
    case Feature::edits:
    case Feature::flags:
    case Feature::rehash:
    case Feature::server_stats:
      return false;
  }
  return false;
}

bool memcached_has(Feature feature) noexcept {
  switch (feature) {
    case Feature::if_present:
    case Feature::if_version:
    case Feature::edits:
    case Feature::flags:
    case Feature::rehash:
    case Feature::server_stats:
    case Feature::lists:
    case Feature::locks:
      return true;
    case Feature::fencing:
    case Feature::ordered_versions:
    case Feature::if_absent_or_equal:
    case Feature::if_value:
    case Feature::millisecond_ttl:
    case Feature::clock:
    case Feature::watch:
      return false;
  }
  return false;
}

}  // namespace

bool supports(EndpointKind kind, Feature feature) noexcept {
  switch (kind) {
    case EndpointKind::state_store:
    case EndpointKind::embedded:
      return store_has(feature);
    case EndpointKind::memcached:
      return memcached_has(feature);
    case EndpointKind::redis:
      return false;
  }
  return false;
}

}  // namespace sheaf::client::runtime

namespace sheaf {
inline namespace v0 {

std::string_view to_string(Feature feature) noexcept {
  switch (feature) {
    case Feature::fencing:
      return "fencing tokens";
    case Feature::ordered_versions:
      return "versions that tell which is newer";
    case Feature::if_absent_or_equal:
      return "set if absent or equal";
    case Feature::if_value:
      return "remove if value";
    case Feature::if_present:
      return "set if present";
    case Feature::if_version:
      return "set and remove if version";
    case Feature::edits:
      return "append, increment, touch";
    case Feature::flags:
      return "flags beside the value";
    case Feature::millisecond_ttl:
      return "time to live in ms";
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
  }
  return "unknown";
}

}  // namespace v0
}  // namespace sheaf
