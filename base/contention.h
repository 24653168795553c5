#pragma once

// Contention: whether other processes compete for the processors. A yield finds out: if it takes
// long, and this process computed for little of that time, then another process did. Yields every
// now and then are enough, and more of them would give away more of the processor.
//
// Pure: no socket, clock, entropy, thread or callback. Thread rule: any thread.

#include <atomic>
#include <bit>
#include <cstdint>

#include "base/clock.h"

namespace sheaf {

class Contention {
 public:
  // Another process that computes keeps the processor for longer than this; a server soon sleeps.
  static constexpr std::chrono::milliseconds too_long{1};
  // From one yield that is watched to the next. They cost more where others compete.
  static constexpr std::chrono::milliseconds interval{10};
  static constexpr std::chrono::milliseconds interval_if_found{100};
  // Next to two processes that compute on two processors, every second yield takes long. On an idle
  // machine one in a hundred does. So it takes two of the last eight to believe in others.
  static constexpr int fewest_long = 2;

  bool found() const noexcept { return std::popcount(history_.load(relaxed)) >= fewest_long; }
  // True if it is time to watch a yield.
  bool due(Deadline now) const noexcept { return now >= next_.load(relaxed); }
  // True for one thread when it is time: its next yield is watched.
  bool begin(Deadline now) noexcept {
    Deadline due = next_.load(relaxed);
    const Deadline next = now + (found() ? interval_if_found : interval);
    return now >= due && next_.compare_exchange_strong(due, next, relaxed);
  }
  // That yield took so long, while the process used `own` of all processors.
  void yielded(std::chrono::nanoseconds took, std::chrono::nanoseconds own) noexcept {
    const unsigned is_long = took - own >= too_long ? 1 : 0;
    history_.store(static_cast<std::uint8_t>(2U * history_.load(relaxed) + is_long), relaxed);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  std::atomic<Deadline> next_{Deadline{0}};
  std::atomic<std::uint8_t> history_ = 0;  // a bit for each of the last yields, 1 if it took long
};

}  // namespace sheaf
