#pragma once

// Which blocking reads leave the client's own path for a read connection
// (client/runtime/read_connections.h has the rules).
//
// Thread rule: any thread.

#include "client/runtime/context.h"

namespace sheaf::client::calls {

// How many other threads were in a call of this client that waits, at most, in the last moments.
// 0 if there are no read connections, or fewer than those callers: some would then share one and
// others not, which is the slowest.
unsigned sharing_callers(runtime::Context& context, Deadline now);

// True if a read failed because its connection ended: the client's own connections, which know if
// the node is up, may still answer it.
bool lost(const Error& error) noexcept;

// Borrows a read connection to these nodes, if they are up and the client has other blocking
// callers but no asynchronous calls. Empty if not. `epoch` is of the topology that named the nodes.
runtime::ReadConnections::Lease read_connection(runtime::Context& context,
                                                std::span<const std::uint32_t> nodes,
                                                std::uint64_t epoch, Deadline now);

}  // namespace sheaf::client::calls
