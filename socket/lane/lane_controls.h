#pragma once

// LaneControls: the rules that make the lane safe. Only tests switch one off, to show what fails
// without it.
//
// Pure: no socket, clock, entropy, thread or callback.

namespace sheaf::socket {

struct LaneControls {
  bool wake = true;          // queueing a task wakes a driver that sleeps
  bool look = true;          // a driver looks for tasks under the lock before it sleeps
  bool promote_last = true;  // a caller passes the baton on after its last turn, not during it
  bool tell_driver = true;   // a caller that releases the baton notifies the LaneDriver
};

}  // namespace sheaf::socket
