#pragma once

// Rules of a cluster that only tests switch off, to show what is lost then.
//
// Thread rule: a plain value.

namespace sheaf::cluster {

struct ClusterControls {
  bool check_epoch = true;   // an owner that was found in another topology does not count
  bool move_waiting = true;  // what waits on a node that has left goes elsewhere
  bool wait_for_end = true;  // a node that has left closes when nothing is in flight on it
};

}  // namespace sheaf::cluster
