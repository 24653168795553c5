#pragma once

// Gives a running client another configuration.
//
// Thread rule: any thread; blocks until the path has the change.

#include <sheaf/client.h>

#include "client/runtime/context.h"

namespace sheaf::client::calls {

Result<ServersChanged> reconfigure(runtime::Context& context, const ClusterConfig& config);

}  // namespace sheaf::client::calls
