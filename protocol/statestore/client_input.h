#pragma once

// Bytes received from a broker and not yet parsed.

#include "protocol/input_buffer.h"

namespace sheaf::protocol::statestore {

using ClientInput = InputBuffer;

}  // namespace sheaf::protocol::statestore
