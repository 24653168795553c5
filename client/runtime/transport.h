#pragma once

// Transport: what a path runs on: a loop, the dialer of its connections, and the rules of its lane.
//
// open_transport() has a file to itself, so that a program can link its own definition instead. The
// simulator does, and runs a real client on a simulated network (docs/design/0019-link-seams.md).
//
// Thread rule: open_transport() from any thread; a transport belongs to one path.

#include <memory>

#include <sheaf/cluster_config.h>

#include "cluster/nodes/cluster_controls.h"
#include "socket/lane/lane_controls.h"
#include "socket/seam.h"

namespace sheaf::client::runtime {

struct Transport {
  std::unique_ptr<socket::DrivenLoop> loop;
  std::unique_ptr<socket::Dialer> dialer;  // belongs to the loop
  socket::LaneControls controls;           // of the lane that will drive the loop
  cluster::ClusterControls cluster{};      // of the cluster whose connections these are
};

// Fails when the kernel has no descriptors left, or when the options of an engine are wrong.
Result<Transport> open_transport(const ClusterConfig& config);

}  // namespace sheaf::client::runtime
