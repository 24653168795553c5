#pragma once

// What the library keeps for each thread, in one place instead of `thread_local` variables: the
// simulator runs many threads on one of the operating system, so it replaces this_thread()
// (docs/design/0047-simulated-threads-as-coroutines.md).
//
// Thread rule: any thread; each has its own.

namespace sheaf {

struct ThisThread {
  bool drives_lane = false;         // it is in a turn of a lane's loop, as a caller
  const void* last_side = nullptr;  // the extra connection that it had last; it may be gone
};

// Its address says which thread this is: two threads that live have two.
ThisThread& this_thread() noexcept;

}  // namespace sheaf
