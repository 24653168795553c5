#pragma once

// Signals that are blocked and read from a descriptor, in place of handlers that interrupt.
//
// Thread rule: made and ended by one thread before it starts others, which inherit the mask.

#include <csignal>
#include <initializer_list>
#include <span>

#include "base/descriptor.h"

namespace sheaf::cli {

struct BlockedSignals {
  // Blocks `always`, and those of `unless_ignored` that the caller has not ignored. Linux queues a
  // blocked signal even when it is ignored, so an ignored one is not asked for.
  BlockedSignals(std::initializer_list<int> always, std::span<const int> unless_ignored);

  // The mask that was in force before. Whoever made this brings it back.
  sigset_t before{};
  Descriptor descriptor;  // of signalfd(), does not wait
};

}  // namespace sheaf::cli
