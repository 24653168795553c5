#pragma once

// LockControls: the rules that make locks safe. Only tests switch one off, to show what is lost
// then.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>

namespace sheaf::client::lock {

struct LockControls {
  bool bound = true;  // a tenure ends with the connection that it began on
  bool check = true;  // a guard's requests need a lock that is held by our own clock
  bool claim = true;  // a fenced read claims what it has read
  bool token = true;  // fenced requests carry the token
  // Where versions are compared:
  bool compare = true;            // renewals compare them
  std::chrono::seconds grace{2};  // how much longer than the lease an item lives, in whole seconds
};

}  // namespace sheaf::client::lock
