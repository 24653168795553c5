#pragma once

// The double of client/runtime/transport.cpp: clients that are opened in a run of simulated threads
// use a simulated network. See sim_threads.h.
//
// Thread rule: simulated threads, one run at a time.

#include "socket/lane/lane_controls.h"
#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

// Clients opened from here on use this network, which outlives them, and lanes with these rules.
void use_network(SimNetwork& network, const socket::LaneControls& controls);

}  // namespace sheaf::sim
