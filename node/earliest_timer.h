#pragma once

// EarliestTimer: a timer for many deadlines, of which few come: most requests are answered long
// before theirs. So it is only ever set to an earlier moment, and when it fires its user looks what
// is due and sets it anew.
//
// Thread rule: belongs to one lane.

#include <memory>

#include "socket/seam.h"

namespace sheaf::node {

class EarliestTimer {
 public:
  EarliestTimer(socket::Loop& loop, socket::TimerSink& sink) : timer_(loop.timer(sink)) {}

  // It fires by then.
  void need(Deadline at) {
    if (at < at_) set(at);
  }
  void set(Deadline at) {
    at_ = at;
    timer_->set(at);
  }
  // It has fired: nothing is set.
  void clear() noexcept { at_ = never; }
  void cancel() { timer_->cancel(); }

 private:
  Deadline at_ = never;
  std::unique_ptr<socket::Timer> timer_;
};

}  // namespace sheaf::node
