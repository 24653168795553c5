#pragma once

// A place where one thread sleeps until another wakes it. No wake-up is lost, and none is spurious.
//
// Thread rule: one thread parks; any thread unparks.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sheaf {

class Parker {
 public:
  // True if park() would not sleep: unpark() has been called since the last park().
  bool unparked() const noexcept { return state_.load(std::memory_order_relaxed) == permit; }
  // Sleeps until unpark() has been called since the last park().
  void park() noexcept { wait(nullptr); }
  // As park(), but sleeps for at most `time`. Returns true if it was unparked.
  bool park_for(std::chrono::nanoseconds time) noexcept { return wait(&time); }
  void unpark() noexcept;

 private:
  bool wait(const std::chrono::nanoseconds* time) noexcept;

  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t permit = 1;
  static constexpr std::uint32_t asleep = 2;
  std::atomic<std::uint32_t> state_{empty};
};

}  // namespace sheaf
