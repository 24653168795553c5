#pragma once

// EarliestTimer: one timer for many deadlines that seldom come, because most requests are answered
// long before theirs. So it is only moved to earlier times. When it fires, its user checks what is
// due and sets it again.
//
// Thread rule: belongs to one lane.

#include <memory>

#include "socket/seam.h"

namespace sheaf::node {

class EarliestTimer {
 public:
  EarliestTimer(socket::Loop& loop, socket::TimerSink& sink) : timer_(loop.timer(sink)) {}

  // Makes it fire at `at` or earlier.
  void need(Deadline at) {
    if (at < at_) set(at);
  }
  void set(Deadline at) {
    at_ = at;
    timer_->set(at);
  }
  // It has fired, so no time is set.
  void clear() noexcept { at_ = never; }
  void cancel() { timer_->cancel(); }

 private:
  Deadline at_ = never;
  std::unique_ptr<socket::Timer> timer_;
};

}  // namespace sheaf::node
