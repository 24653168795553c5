#pragma once

// Which blocking reads leave the client's own path for a read connection
// (client/runtime/read_connections.h has the rules).
//
// Thread rule: any thread.

#include "client/runtime/context.h"

namespace sheaf::client::calls {

// How many other threads were in a call of this client that waits, at most, in the last moments. 0
// if no read may use a read connection now: there are none, or asynchronous calls are in flight.
unsigned other_callers(runtime::Context& context, Deadline now);
// The same, but 0 also if there are fewer read connections than those callers: some would then
// share one and others not, which is the slowest.
unsigned sharing_callers(runtime::Context& context, Deadline now);

// Borrows a read connection to these nodes, if they are up. Empty if not. Call it only if there are
// other callers. `epoch` is of the topology that named the nodes.
runtime::ReadConnections::Lease read_connection(runtime::Context& context,
                                                std::span<const std::uint32_t> nodes,
                                                std::uint64_t epoch, Deadline now);

// How a caller waits that has a read connection. Only this caller uses it, so it can wait in read.
// With a stop token it must not, because read would notice a stop too late.
socket::Wait wait_on_read_connection(Stop stop) noexcept;

// True if a read failed because its connection ended: the client's own connections, which know if
// the node is up, may still answer it.
bool lost(const Error& error) noexcept;

}  // namespace sheaf::client::calls
