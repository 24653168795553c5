#pragma once

// What each kind of endpoint can do: the table behind Client::supports.

#include <sheaf/cluster_config.h>
#include <sheaf/feature.h>

namespace sheaf::client::runtime {

bool supports(EndpointKind kind, Feature feature) noexcept;

}  // namespace sheaf::client::runtime
