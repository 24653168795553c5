#pragma once

// DriverSignal: tells a program with a loop of its own that a LaneDriver has something to do: a
// descriptor that is readable then. It is so for bytes on a connection, for a deadline, and for
// work of another thread.
//
// Its functions are alone in their file: the simulator has others (docs/design/0019-link-seams.md).
//
// Thread rule: notify(), wait_until() and the questions from any thread; the rest by one thread at
// a time. WaitEnd::end() from any thread.

#include <atomic>

#include "base/descriptor.h"
#include "socket/seam.h"

namespace sheaf::socket {

// Ends the wait of one thread, and every later one. It has a descriptor of its own: the signal's is
// cleared by whichever thread wakes first.
class WaitEnd {
 public:
  // Throws std::system_error when no descriptor can be had.
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
  // Throws std::system_error when no descriptor can be had.
  DriverSignal();
  ~DriverSignal();
  DriverSignal(const DriverSignal&) = delete;
  DriverSignal& operator=(const DriverSignal&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  // The loop has something to do: it is readable. Throws std::system_error.
  void watch(const DrivenLoop& loop);
  void forget(const DrivenLoop& loop) noexcept;
  // Readable until it is cleared.
  void notify() noexcept;
  void clear() noexcept;
  // Readable from then on, in the place of an earlier deadline; `never`: not by itself.
  void ring_at(Deadline due) noexcept;
  // Sleeps until it is readable; false: not until then, or not when the wait was ended.
  bool wait_until(Deadline until, const WaitEnd* end = nullptr) noexcept;
  // In a forked child the loops are somebody else's.
  bool forked() const noexcept;

 private:
  int descriptor_ = -1;  // epoll, over the others and the loops
  int event_ = -1;
  int timer_ = -1;
  int process_ = 0;
  std::atomic<bool> notified_ = false;
};

}  // namespace sheaf::socket
