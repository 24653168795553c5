#pragma once

// Memory that runs out, and a count of allocations. scarce_memory.cpp replaces the allocation
// functions of the program.

namespace sheaf::protocol {

// Every allocation of this thread counts this down. The one that finds zero fails.
inline constexpr long no_limit = -1;
inline thread_local long allocations_left = no_limit;
// How many this thread has made.
inline thread_local unsigned long allocations_made = 0;

// Allows only `count` allocations while it exists.
class Scarce {
 public:
  explicit Scarce(long count) { allocations_left = count; }
  ~Scarce() { allocations_left = no_limit; }
};

}  // namespace sheaf::protocol
