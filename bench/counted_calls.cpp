#include "bench/counted_calls.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/support/counted_heap.h"

namespace bench {
namespace {

// The number of the event "a system call begins"; 0 if it is unknown.
std::uint64_t event_number() {
  std::uint64_t number = 0;
  std::ifstream("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id") >> number;
  return number;
}

// Counts the event for one thread and those that it will start. Returns a descriptor, or -1.
int open_event(std::uint64_t number, pid_t thread) {
  perf_event_attr event{};
  event.type = PERF_TYPE_TRACEPOINT;
  event.size = sizeof event;
  event.config = number;
  event.inherit = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &event, thread, -1, -1, 0));
}

}  // namespace

CountedCalls::CountedCalls() : allocations_before_(sheaf::test::allocations()) {
  if (const std::uint64_t number = event_number(); number != 0) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      events_.push_back(open_event(number, std::stoi(thread.path().filename())));
    }
  }
  sheaf::test::count_heap(true);
}

CountedCalls::~CountedCalls() {
  sheaf::test::count_heap(false);
  for (const int event : events_) {
    if (event >= 0) close(event);
  }
}

double CountedCalls::system_calls() const {
  double sum = events_.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (const int event : events_) {
    std::uint64_t count = 0;
    const bool seen = event >= 0 && read(event, &count, sizeof count) == sizeof count;
    sum += seen ? static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  }
  return sum;
}

double CountedCalls::allocations() const {
  return static_cast<double>(sheaf::test::allocations() - allocations_before_);
}

}  // namespace bench
