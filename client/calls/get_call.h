#pragma once

// get() for a caller that waits.

#include "client/calls/requests.h"
#include "client/runtime/context.h"

namespace sheaf::client::calls {

Result<GetResult> get(runtime::Context& context, KeyRequest request);

}  // namespace sheaf::client::calls
