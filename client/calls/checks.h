#pragma once

// The checks that a call must pass before anything is started.
//
// Thread rule: any thread.

#include <optional>

#include <sheaf/cluster_config.h>
#include <sheaf/options.h>

#include "base/arguments.h"

namespace sheaf::client::calls {

using arguments::check_key;
using arguments::check_timeout;
using arguments::check_ttl;
using arguments::check_value;
using arguments::effective_ttl;

// As the others, it returns the first error found.
std::optional<Error> check_fence(const FencingToken& fence, const ClusterConfig& config);
std::optional<Error> check_persist(bool persist, const ClusterConfig& config);

}  // namespace sheaf::client::calls
