#pragma once

// ReleaseBackoff: a client that has just released a lock lets the others come first. It waits about
// one round trip before it asks for the same lock again. Otherwise the next request of the client
// that released it always arrives first, and starves the others, which must be notified before they
// ask.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: under the baton of one lane.

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sheaf::client::lock {

class ReleaseBackoff {
 public:
  // The caller draws `factor` from 0.5 .. 1.5, so that clients do not keep step.
  void released(std::string_view lock, std::chrono::nanoseconds round_trip, double factor, Now now);
  // The moment from which on this client may ask for the lock; it may have passed.
  Deadline may_ask(std::string_view lock) const;

 private:
  std::map<std::string, Deadline, std::less<>> not_before_;  // removed once they have passed
};

}  // namespace sheaf::client::lock
