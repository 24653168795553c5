#pragma once

// A place where one thread sleeps until another lets it go; no lost wake-ups, no spurious returns.
//
// Thread rule: one thread parks; any thread unparks.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sheaf::socket {

class Parker {
 public:
  // Sleeps until unpark() has been called since the last park().
  void park() noexcept { wait(nullptr); }
  // The same, at most for `time`. True if it was unparked.
  bool park_for(std::chrono::nanoseconds time) noexcept { return wait(&time); }
  void unpark() noexcept;

 private:
  bool wait(const std::chrono::nanoseconds* time) noexcept;

  std::atomic<std::uint32_t> permit_{0};
};

}  // namespace sheaf::socket
