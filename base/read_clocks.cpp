#include "base/read_clocks.h"

#include <ctime>

namespace sheaf {
namespace {

std::chrono::nanoseconds read_clock(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

Deadline read_monotonic() noexcept { return read_clock(CLOCK_BOOTTIME); }

std::chrono::nanoseconds read_process_time() noexcept {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

Now read_clocks() noexcept {
  return {read_monotonic(),
          std::chrono::floor<std::chrono::milliseconds>(read_clock(CLOCK_REALTIME))};
}

}  // namespace sheaf
