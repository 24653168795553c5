#pragma once

// LockControls: the rules that make locks safe. Only tests switch one off, to show what is lost
// without it.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>

namespace sheaf::client::lock {

struct LockControls {
  bool bound = true;  // a tenure ends with the connection that it began on
  bool check = true;  // a guard sends requests only while its lock is held by our own clock
  bool claim = true;  // a fenced read claims what it has read
  bool token = true;  // fenced requests carry the token
  // Where versions are compared:
  bool compare = true;            // renewals compare them
  bool outwait = true;            // a lock is taken over only after a lease without a renewal
  std::chrono::seconds grace{2};  // whole seconds by which an item outlives the lease
};

}  // namespace sheaf::client::lock
