#include "socket/timer_heap.h"

namespace sheaf::socket {

class TimerHeap::Entry final : public Timer, public DeadlineHook<Entry> {
 public:
  Entry(TimerHeap& timers, TimerSink& sink) : timers_(timers), sink_(sink) {}
  ~Entry() override { cancel(); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  void set(Deadline deadline) override {
    if (timers_.heap_.contains(*this) && deadline_ == deadline) return;
    cancel();
    deadline_ = deadline;
    round_ = timers_.round_;
    if (deadline != never) timers_.heap_.push(*this, deadline);
  }
  void cancel() override { timers_.heap_.remove(*this); }

 private:
  friend class TimerHeap;
  TimerHeap& timers_;
  TimerSink& sink_;
  Deadline deadline_ = never;
  std::uint64_t round_ = 0;  // the fire() during which it was set
};

std::unique_ptr<Timer> TimerHeap::make(TimerSink& sink) {
  return std::make_unique<Entry>(*this, sink);
}

void TimerHeap::fire(Now now) {
  ++round_;
  while (heap_.next() <= now.mono && !heap_.empty() && heap_.front()->round_ < round_) {
    Entry& due = *heap_.front();
    due.cancel();
    due.sink_.on_timer(now);
  }
}

}  // namespace sheaf::socket
