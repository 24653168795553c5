#pragma once

// CountedCalls: counts the system calls and the allocations of this process while it lives, those
// of threads that start meanwhile included. Both slow the process down. The kernel counts system
// calls only for root, or with kernel.perf_event_paranoid=-1, and where tracefs is mounted.
//
// Thread rule: one thread, one at a time. The program links tests/support/counted_heap.cpp and
// calls count_heap(false) before it starts threads.

#include <cstddef>
#include <vector>

namespace bench {

class CountedCalls {
 public:
  CountedCalls();
  ~CountedCalls();
  CountedCalls(const CountedCalls&) = delete;
  CountedCalls& operator=(const CountedCalls&) = delete;

  // So far; NaN if the kernel does not count them.
  double system_calls() const;
  double allocations() const;

 private:
  std::vector<int> events_;  // one for each thread of the beginning
  std::size_t allocations_before_;
};

}  // namespace bench
