#pragma once

// DriverSignal: a descriptor that is readable while a LaneDriver has something to do. A program
// with a loop of its own waits on it for bytes on a connection, deadlines and work from other
// threads.
//
// Its functions are alone in their file: the simulator has others (docs/design/0019-link-seams.md).
//
// Thread rule: notify(), wait_until() and the queries from any thread; the rest by one thread at a
// time. WaitEnd::end() from any thread.

#include <atomic>

#include "base/descriptor.h"
#include "socket/seam.h"

namespace sheaf::socket {

// Ends the current wait of one thread, and every later one. It has a descriptor of its own, because
// the thread that wakes first clears the signal's.
class WaitEnd {
 public:
  // Throws std::system_error if the system has no descriptor left.
  WaitEnd();
  ~WaitEnd();
  WaitEnd(const WaitEnd&) = delete;
  WaitEnd& operator=(const WaitEnd&) = delete;

  void end() noexcept;

 private:
  friend class DriverSignal;
  Descriptor event_;
};

class DriverSignal {
 public:
  // Throws std::system_error if the system has no descriptor left.
  DriverSignal();
  ~DriverSignal();
  DriverSignal(const DriverSignal&) = delete;
  DriverSignal& operator=(const DriverSignal&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  // Watches a loop: the signal is readable while the loop has something to do. Throws
  // std::system_error.
  void watch(const DrivenLoop& loop);
  void forget(const DrivenLoop& loop) noexcept;
  // Makes it readable until it is cleared.
  void notify() noexcept;
  void clear() noexcept;
  // Makes it readable at a deadline, which replaces an earlier one. `never` sets none.
  void ring_at(Deadline due) noexcept;
  // Sleeps until it is readable. Returns false if it was not readable in time, or if the wait was
  // ended first.
  bool wait_until(Deadline until, const WaitEnd* end = nullptr) noexcept;
  // True in a forked child, where the loops belong to the parent.
  bool forked() const noexcept;

 private:
  int descriptor_ = -1;  // epoll, over the others and the loops
  int event_ = -1;
  int timer_ = -1;
  int process_ = 0;
  std::atomic<bool> notified_ = false;
};

}  // namespace sheaf::socket
