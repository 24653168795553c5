#pragma once

// Rules of a cluster that only tests switch off, to show what fails without them.
//
// Thread rule: a plain value.

namespace sheaf::cluster {

struct ClusterControls {
  bool check_epoch = true;   // an owner found in another topology does not count
  bool move_waiting = true;  // requests that wait on a node that has left go elsewhere
  bool wait_for_end = true;  // a node that has left closes when nothing is in flight on it
  bool keep_order = true;    // operations on one key keep their order through waits and redirects
};

}  // namespace sheaf::cluster
