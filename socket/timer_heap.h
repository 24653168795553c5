#pragma once

// The timers of a loop. It is our own heap because libuv fires its timers before it reads, so that
// after a pause of the process every peer would look dead (ARCHITECTURE.md, T9).
//
// Thread rule: belongs to one loop.

#include <cstdint>
#include <memory>

#include "base/deadline_heap.h"
#include "socket/seam.h"

namespace sheaf::socket {

class TimerHeap {
 public:
  TimerHeap() = default;
  TimerHeap(const TimerHeap&) = delete;
  TimerHeap& operator=(const TimerHeap&) = delete;

  // The heap must outlive the timer.
  std::unique_ptr<Timer> make(TimerSink& sink);

  // `never` if no timer is set.
  Deadline earliest() const noexcept { return heap_.next(); }

  // Fires every timer that was due when the call began, oldest first. A sink may set, cancel and
  // destroy any timer; a timer set during the call waits for the next call.
  void fire(Now now);

 private:
  class Entry;

  DeadlineHeap<Entry> heap_;
  std::uint64_t round_ = 0;  // counts calls of fire()
};

}  // namespace sheaf::socket
