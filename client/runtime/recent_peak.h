#pragma once

// RecentPeak: the largest of the numbers that were reported in the last moments.
//
// Pure: no socket, clock, entropy, thread or callback. Thread rule: any thread. Threads that report
// at once may lose each other's report.

#include <algorithm>
#include <atomic>

#include "base/clock.h"

namespace sheaf::client::runtime {

class RecentPeak {
 public:
  // A number counts for this long at least, and for twice as long at most.
  static constexpr std::chrono::milliseconds memory{5};

  // Returns the peak, with this number.
  unsigned report(unsigned number, Deadline now) noexcept {
    const std::chrono::nanoseconds age = now - began_.load(relaxed);
    if (age >= memory) {
      before_.store(age < 2 * memory ? peak_.load(relaxed) : 0, relaxed);
      peak_.store(number, relaxed);
      began_.store(now, relaxed);
    } else if (number > peak_.load(relaxed)) {
      peak_.store(number, relaxed);
    }
    return std::max(peak_.load(relaxed), before_.load(relaxed));
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  std::atomic<Deadline> began_{Deadline{0}};
  std::atomic<unsigned> peak_ = 0;    // since began_
  std::atomic<unsigned> before_ = 0;  // in the time before
};

}  // namespace sheaf::client::runtime
