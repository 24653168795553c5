#include "socket/lane/lane.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/read_clocks.h"
#include "socket/quiet_thread.h"

namespace sheaf::socket {
namespace {

thread_local bool driving_thread = false;

// A thread cancelled inside the library would take the baton with it.
class NoCancel {
 public:
  NoCancel() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_); }
  ~NoCancel() { pthread_setcancelstate(old_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int old_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace

bool Lane::drives_here() noexcept { return driving_thread; }

Lane::~Lane() {
  stop();
  loop_.set_guest(nullptr);
}

void Lane::start() {
  keeper_ = start_quiet_thread([this] { keeper_main(); });
}

void Lane::stop() noexcept {
  if (!keeper_.joinable()) return;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    wake = std::exchange(asleep_, false);
  }
  if (wake) loop_.wake();
  keeper_parker_.unpark();
  keeper_.join();
}

// Under mutex_. True if the driver must be woken.
bool Lane::enqueue(Task& task) noexcept {
  queue_.push_back(task);
  queued_.store(true, std::memory_order_relaxed);
  return std::exchange(asleep_, false);
}

void Lane::call(Task& task, Waiter& waiter) {
  const NoCancel no_cancel;
  bool sleep = false;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    wake = enqueue(task);
    sleep = driving_;
    if (sleep) sleepers_.push_back(waiter);
    if (!sleep) keeper_drives_ = false;
    driving_ = true;
  }
  if (sleep) {
    if (wake) loop_.wake();
    if (loop_.spins()) waiter.parker_.yield(waiter.yields_);
    waiter.parker_.park();
    if (!waiter.crowned_) return;
  }
  drive(waiter);
}

bool Lane::has_callers() noexcept {
  const std::scoped_lock lock(mutex_);
  return !sleepers_.empty() || (driving_ && !keeper_drives_);
}

void Lane::post(Task& task) {
  bool keeper = false;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    wake = enqueue(task);
    keeper = !driving_;
    if (keeper) driving_ = keeper_drives_ = keeper_called_ = true;
  }
  if (keeper) keeper_parker_.unpark();
  if (wake) loop_.wake();
}

void Lane::finish(Waiter& waiter) noexcept {
  if (&waiter == driver_) {
    waiter.done_ = true;
    loop_.hurry();  // this turn need not wait
    return;
  }
  *answered_end_ = &waiter;
  answered_end_ = &waiter.next_answered_;
}

// The sleepers whose answers came in this turn. One that was let go may be gone at once.
void Lane::let_go() noexcept {
  if (answered_ == nullptr) return;
  {
    const std::scoped_lock lock(mutex_);
    if (sleepers_.size() > crowd_size) crowd_until_ = loop_.now().mono + crowd_time;
    for (Waiter* waiter = answered_; waiter != nullptr; waiter = waiter->next_answered_) {
      sleepers_.remove(*waiter);
    }
  }
  answered_end_ = &answered_;
  for (Waiter* waiter = std::exchange(answered_, nullptr); waiter != nullptr;) {
    std::exchange(waiter, waiter->next_answered_)->parker_.unpark();
  }
}

void Lane::drive(Waiter& waiter) {
  driving_thread = true;
  driver_ = &waiter;
  loop_.wait_by(waiter.wait_);
  while (!waiter.done_) turn(never);
  driver_ = nullptr;
  driving_thread = false;
  pass_on();
}

// Tasks run inside the turn, so that one write carries what all of them queued.
void Lane::turn(Deadline until) {
  loop_.defer(*this);
  loop_.turn(until);
  let_go();
}

// Under the lock of enqueue(): either the work is seen here, or its poster sees a sleeper.
bool Lane::may_sleep() noexcept {
  if (answered_ != nullptr) return false;
  const std::scoped_lock lock(mutex_);
  asleep_ = queue_.empty() && !stopping_;
  return asleep_;
}

void Lane::run_deferred(Now now) { drain(now); }

void Lane::drain(Now now) {
  for (;;) {
    Task* task = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      asleep_ = false;
      task = queue_.pop_front();
      if (queue_.empty()) queued_.store(false, std::memory_order_relaxed);
    }
    if (task == nullptr) return;
    task->run(now);
  }
}

// Gives the baton on; `driving_` stays set when somebody takes it.
void Lane::pass_on() {
  Waiter* next = nullptr;
  bool keeper = false;
  {
    const std::scoped_lock lock(mutex_);
    if (sleepers_.size() > crowd_size || (sleepers_.empty() && (!queue_.empty() || async_ > 0))) {
      keeper = keeper_drives_ = keeper_called_ = true;
      if (!sleepers_.empty()) crowd_until_ = loop_.now().mono + crowd_time;
    } else if (!sleepers_.empty()) {
      next = sleepers_.pop_front();
      next->crowned_ = true;
    } else {
      driving_ = false;
      released_at_ = loop_.now().mono;
    }
  }
  if (next != nullptr) next->parker_.unpark();
  if (keeper) keeper_parker_.unpark();
}

void Lane::keeper_main() {
  pthread_setname_np(pthread_self(), "sheaf-keeper");
  for (;;) {
    if (keeper_may_drive()) keeper_drive();
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return;
    }
    keeper_parker_.park_for(grace_);
  }
}

// True if the keeper now holds the baton: it was given, or has been lying about for the grace time.
bool Lane::keeper_may_drive() {
  const Deadline now = read_monotonic();
  const std::scoped_lock lock(mutex_);
  if (stopping_) return false;
  if (keeper_called_) {
    keeper_called_ = false;
    return true;
  }
  if (driving_ || now - released_at_ < grace_) return false;
  driving_ = keeper_drives_ = true;
  return true;
}

void Lane::keeper_drive() {
  driving_thread = true;
  Deadline until = never;
  do {
    const bool crowd = loop_.now().mono < crowd_until_;
    loop_.wait_by(crowd ? Wait::spin : Wait::sleep);
    if (crowd && loop_.spins()) sched_yield();  // who was let go may ask again first
    turn(until);
  } while (!step_down(loop_.now(), until));
  driving_thread = false;
}

// True if the keeper has given the baton away. A crowd that all was answered at once is still a
// crowd, hence the time it is remembered.
bool Lane::step_down(Now now, Deadline& until) {
  Waiter* next = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) {
      driving_ = false;
      return true;
    }
    if (sleepers_.size() > crowd_size) crowd_until_ = now.mono + crowd_time;
    until = now.mono < crowd_until_ ? crowd_until_ : never;
    if (sleepers_.empty() || until != never) return false;
    next = sleepers_.pop_front();
    next->crowned_ = true;
    keeper_drives_ = false;
  }
  next->parker_.unpark();
  return true;
}

}  // namespace sheaf::socket
