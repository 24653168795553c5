#pragma once

// LockMemory: what a client remembers of its locks beyond the life of each plan.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: under the baton of one lane.

#include "client/lock/release_backoff.h"
#include "client/lock/rivals.h"

namespace sheaf::client::lock {

struct LockMemory {
  ReleaseBackoff backoff{};
  Rivals rivals{};
};

}  // namespace sheaf::client::lock
