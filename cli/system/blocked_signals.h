#pragma once

// Signals that are blocked and read from a descriptor, in place of handlers that interrupt.
//
// Thread rule: made by one thread before it starts others, which inherit the mask; ended by it.

#include <csignal>
#include <initializer_list>
#include <span>

#include "base/descriptor.h"

namespace sheaf::cli {

class BlockedSignals {
 public:
  // Blocks `always`, and those of `unless_ignored` that the caller has not ignored. Linux queues a
  // blocked signal even when it is ignored, so an ignored one is not asked for.
  BlockedSignals(std::initializer_list<int> always, std::span<const int> unless_ignored);
  // Brings the mask of before back.
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The next one; number 0: none has come.
  struct Signal {
    int number = 0;
    bool from_terminal = false;
  };
  Signal take() const;
  // Can be read when one has come.
  int descriptor() const noexcept { return descriptor_.get(); }
  // The mask that was in force before.
  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

}  // namespace sheaf::cli
