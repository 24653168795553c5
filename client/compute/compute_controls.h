#pragma once

// ComputeControls: the rules by which nobody waits in vain for a computation. Only tests switch one
// off, to show what is lost then.
//
// Pure: no socket, clock, entropy, thread or callback.

namespace sheaf::client::compute {

struct ComputeControls {
  bool tell_all = true;  // a value goes to everybody who waits for it
  bool pass_on = true;   // the next in line hears that the leader has left without a value
  bool lend = true;      // who waits on its stack may take a right whose function has not begun
};

}  // namespace sheaf::client::compute
