#pragma once

// Which blocking calls leave the client's own path for an extra connection
// (client/runtime/extra_connections.h has the rules).
//
// Thread rule: any thread.

#include "client/runtime/context.h"

namespace sheaf::client::calls {

// How many other threads were in a call of this client that waits, at most, in the last moments. 0
// if no call may use an extra connection now: there are none, or something is in flight for which
// no thread waits.
unsigned other_callers(runtime::Context& context, Deadline now);
// True if there is an extra connection for each of these callers, of which there are some. If not,
// some would share a connection and others not, which is the slowest.
bool enough_for(runtime::Context& context, unsigned callers) noexcept;

// Up to so many callers, this one included, are faster with a connection each: there is little to
// merge, and callers that share one wait for each other, above all those that sleep. What more
// callers ask leaves over one connection in few writes, and is answered in few.
struct MostCallers {
  std::size_t yielding = 0;
  std::size_t sleeping = 0;
};
bool are_few(runtime::Context& context, unsigned others, const MostCallers& most,
             Deadline now) noexcept;

// Borrows an extra connection to these nodes, if they are up. Empty if not. Call it only if there
// are other callers. `epoch` is of the topology that named the nodes. There is none while a server
// may still carry out an operation that has ended (late_write.h). `patience`: how long to wait for
// one if all are in use.
runtime::ExtraConnections::Lease extra_connection(runtime::Context& context,
                                                  std::span<const std::uint32_t> nodes,
                                                  std::uint64_t epoch, Deadline now,
                                                  std::chrono::nanoseconds patience = {});

// How a caller waits that has an extra connection. Only this caller uses it, so it can wait in
// read. With a stop token it must not, because read would notice a stop too late.
socket::Wait wait_on_extra_connection(Stop stop) noexcept;

// True if an operation failed because its connection ended, not because of its deadline or its stop
// token. The client's own connections, which know if the node is up, may still carry it out.
bool lost(const Error& error) noexcept;

}  // namespace sheaf::client::calls
