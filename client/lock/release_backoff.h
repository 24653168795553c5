#pragma once

// ReleaseBackoff: lets other clients go first after a release. A client that has just released a
// lock waits about one round trip before it asks for the same lock again. Otherwise its next
// request always arrives first and starves the other clients, which must be notified before they
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
  // The caller draws `factor` from 0.5 .. 1.5, so that clients get out of step.
  void released(std::string_view lock, std::chrono::nanoseconds round_trip, double factor, Now now);
  // The earliest time at which this client may ask for the lock; it may be in the past.
  Deadline may_ask(std::string_view lock) const;

 private:
  std::map<std::string, Deadline, std::less<>> not_before_;  // passed entries are removed
};

}  // namespace sheaf::client::lock
