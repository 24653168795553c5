#pragma once

// ComputeControls: the rules that keep every caller from waiting in vain for a computation. Only
// tests switch one off, to show what is lost without it.
//
// Pure: no socket, clock, entropy, thread or callback.

namespace sheaf::client::compute {

struct ComputeControls {
  bool tell_all = true;  // a value goes to all that wait for it
  bool pass_on = true;   // if the leader leaves without a value, the next in line leads
  bool lend = true;      // a blocking caller may take a right before its function begins
};

}  // namespace sheaf::client::compute
