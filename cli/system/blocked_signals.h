#pragma once

// Signals that are blocked and read from a descriptor, instead of handlers that interrupt.
//
// Thread rule: made by one thread before it starts others, which inherit the mask; destroyed by it.

#include <csignal>
#include <initializer_list>
#include <span>

#include "base/descriptor.h"

namespace sheaf::cli {

class BlockedSignals {
 public:
  // Blocks `always`, and those of `unless_ignored` that the caller has not ignored: Linux queues a
  // blocked signal even if it is ignored.
  BlockedSignals(std::initializer_list<int> always, std::span<const int> unless_ignored);
  // Restores the previous mask.
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The next signal; number 0: none is pending.
  struct Signal {
    int number = 0;
    bool from_terminal = false;
  };
  Signal take() const;
  // Readable when a signal is pending.
  int descriptor() const noexcept { return descriptor_.get(); }
  // The previous mask.
  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

}  // namespace sheaf::cli
