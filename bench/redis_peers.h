#pragma once

// Extends bench/fleet.h for redis_compare: Redis as raw sockets speak it, and hiredis.

#include "bench/fleet.h"

namespace bench {

extern const RawWire redis_wire;

// Each thread has a context for each server; many keys are that many GETs at once. With `cluster`
// it routes by hand, with the slots that the first server reports. With `mget`, which needs one
// server, many keys are one MGET.
Contestant redis_hiredis(const Data& data, const Job& job, bool cluster, bool mget);

}  // namespace bench
