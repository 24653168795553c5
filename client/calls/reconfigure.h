#pragma once

// Another configuration for a client that works.
//
// Thread rule: any thread; blocks until the path has the change.

#include <sheaf/client.h>

#include "client/runtime/context.h"

namespace sheaf::client::calls {

Result<ServersChanged> reconfigure(runtime::Context& context, const ClusterConfig& config);

}  // namespace sheaf::client::calls
