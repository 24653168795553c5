#include "client/calls/checks.h"

#include "client/runtime/features.h"

namespace sheaf::client::calls {

std::optional<Error> check_fence(const FencingToken& fence, const ClusterConfig& config) {
  if (fence.text.empty()) return std::nullopt;
  return runtime::check_feature(config, Feature::fencing);
}

std::optional<Error> check_persist(bool persist, const ClusterConfig& config) {
  return persist ? runtime::check_feature(config, Feature::persist) : std::nullopt;
}

}  // namespace sheaf::client::calls
