#pragma once

// How long a stage may be used. This rule makes stages safe: `settle` after a stage was replaced,
// no call acts on it. A call begins with a stage that was read within the first half of that time,
// and ends within the second half.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace sheaf::migration {

class StageClock {
 public:
  explicit StageClock(std::chrono::milliseconds settle) noexcept : settle_(settle) {}

  // The stage was read; the reading began at `at`.
  void on_read(Deadline at) noexcept { read_at_ = at; }
  // The file's `settle` applies if it is shorter than our own.
  void limit(std::chrono::nanoseconds settle) noexcept { settle_ = std::min(settle_, settle); }

  bool due(Deadline now) const noexcept { return now - read_at_ >= settle_ / 10; }
  bool usable(Deadline now) const noexcept { return now - read_at_ < settle_ / 2; }
  // The longest time for a call that begins while the stage is usable.
  std::chrono::nanoseconds longest_call() const noexcept { return settle_ / 2; }

 private:
  std::chrono::nanoseconds settle_;
  Deadline read_at_ = -std::chrono::hours(24);  // long ago
};

}  // namespace sheaf::migration
