#pragma once

// Who has just released a lock lets the others come first: the client waits about one round trip
// before it asks for that lock again. Without it the releaser, whose next request is the first to
// arrive, starves the others, who must hear of the release before they ask.
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
  // `factor`, 0.5 .. 1.5, is drawn by the caller, so that clients do not keep step.
  void released(std::string_view lock, std::chrono::nanoseconds round_trip, double factor, Now now);
  // When this client may ask for the lock; not after `now`: at once.
  Deadline may_ask(std::string_view lock) const;

 private:
  std::map<std::string, Deadline, std::less<>> not_before_;  // those that have passed are swept
};

}  // namespace sheaf::client::lock
