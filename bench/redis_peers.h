#pragma once

// What redis_compare adds to bench/fleet.h: Redis as raw sockets speak it, and hiredis.

#include "bench/fleet.h"

namespace bench {

extern const RawWire redis_wire;

// A context for each thread and server; many keys as that many GETs in one go. `cluster`: routed by
// hand, with the slots that the first server names.
Contestant redis_hiredis(const Data& data, const Job& job, bool cluster);

}  // namespace bench
