#pragma once

// The double of client/runtime/transport.cpp: clients opened in a run of simulated threads use a
// simulated network. See sim_threads.h.
//
// Thread rule: simulated threads, one run at a time.

#include "cluster/nodes/cluster_controls.h"
#include "socket/lane/lane_controls.h"
#include "tests/sim/kit/planted_bugs.h"
#include "tests/sim/kit/sim_network.h"

namespace sheaf::sim {

// Clients opened from here on use this network, which outlives them, lanes with these rules, and
// sessions with this bug (sim_kinds.cpp).
void use_network(SimNetwork& network, const socket::LaneControls& controls, Bug bug = Bug::none,
                 const cluster::ClusterControls& cluster = {});
Bug planted_bug() noexcept;

}  // namespace sheaf::sim
