#pragma once

// LaneControls: the rules that make the lane safe. Only tests switch one off, to show what is lost
// then.
//
// Pure: no socket, clock, entropy, thread or callback.

namespace sheaf::socket {

struct LaneControls {
  bool wake = true;          // whoever queues a task wakes a driver that sleeps
  bool look = true;          // a driver looks for tasks under the lock before it sleeps
  bool promote_last = true;  // a caller gives the baton on after its last turn, not during it
  bool tell_driver = true;   // when a caller has let the baton go free
};

}  // namespace sheaf::socket
