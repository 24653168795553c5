#include "socket/lane/lane.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/checks.h"
#include "base/read_clocks.h"
#include "base/this_thread.h"
#include "socket/lane/lane_driver.h"

namespace sheaf::socket {
namespace {

// A thread that is cancelled inside the library would never return the baton.
class NoCancel {
 public:
  NoCancel() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_); }
  ~NoCancel() { pthread_setcancelstate(old_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int old_ = PTHREAD_CANCEL_ENABLE;
};

// With more sleepers the keeper should drive. Callers that yield bring it more at once than callers
// that sleep, so it pays for fewer of them (docs/design/0061). Without the keeper, one of the
// sleepers would drive.
unsigned crowd_size(DrivenLoop& loop, bool keeper_drives) noexcept {
  if (loop.yielding().pays(loop.now().mono)) return 2;
  return keeper_drives ? 4 : 3;
}

}  // namespace

bool Lane::drives_here() noexcept { return this_thread().drives_lane; }

Lane::~Lane() {
  stop();
  loop_.set_idle_hook(nullptr);
}

void Lane::start() {
  keeper_ = QuietThread("sheaf-keeper", [this] { keeper_main(); });
}

void Lane::start(LaneDriver& driver) {
  driver_of_lane_ = &driver;
  driver.add(*this, loop_);
  driver.notify();
}

void Lane::stop() noexcept {
  if (driver_of_lane_ != nullptr) {
    driver_of_lane_->remove(*this, loop_);
    driver_of_lane_ = nullptr;
    const sync::MutexLock lock(mutex_);
    baton_ = Baton::stopped;
    return;
  }
  if (!keeper_.joinable()) return;
  bool wake = false;
  {
    const sync::MutexLock lock(mutex_);
    wake = set_awake();
    baton_ = Baton::stopped;
  }
  if (wake) loop_.wake();
  keeper_parker_.unpark();
  keeper_.join();
}

// Returns true if the driver must be woken.
bool Lane::enqueue(Task& task) noexcept {
  queue_.push_back(task);
  queued_.store(true, std::memory_order_relaxed);
  return set_awake() && controls_.wake;
}

// Marks the driver as awake. Returns true if it was asleep, so that it must be woken.
bool Lane::set_awake() noexcept {
  switch (baton_) {
    case Baton::caller_asleep:
      baton_ = Baton::caller;
      return true;
    case Baton::keeper_asleep:
      baton_ = Baton::keeper;
      return true;
    default:
      return false;
  }
}

// The waiter must be unparked after the lock is released.
Lane::Waiter* Lane::promote_oldest() noexcept {
  Waiter* const next = sleepers_.pop_front();
  next->state_ = Waiter::State::promoted;
  baton_ = Baton::caller;
  return next;
}

void Lane::call(Task& task, Waiter& waiter) {
  const NoCancel no_cancel;
  bool sleep = false;
  bool wake = false;
  {
    const sync::MutexLock lock(mutex_);
    SHEAF_CHECK(baton_ != Baton::stopped);
    wake = enqueue(task);
    sleep = baton_ != Baton::free && (driver_of_lane_ == nullptr || baton_ != Baton::called);
    if (sleep) {
      sleepers_.push_back(waiter);
    } else {
      baton_ = Baton::caller;
    }
  }
  if (sleep) {
    if (wake) loop_.wake();
    for (unsigned i = waiter.yields_;
         i > 0 && !waiter.parker_.unparked() && loop_.yielding().yield(); --i) {
    }
    waiter.parker_.park();
    if (waiter.state_ == Waiter::State::waiting) return;
  }
  drive(waiter);
}

unsigned Lane::callers() noexcept {
  const sync::MutexLock lock(mutex_);
  const bool caller_drives = baton_ == Baton::caller || baton_ == Baton::caller_asleep;
  return static_cast<unsigned>(sleepers_.size()) + (caller_drives ? 1 : 0);
}

void Lane::post(Task& task) {
  bool keeper = false;
  bool wake = false;
  {
    const sync::MutexLock lock(mutex_);
    wake = enqueue(task);
    keeper = baton_ == Baton::free;
    if (keeper) baton_ = Baton::called;
  }
  if (keeper) driver_of_lane_ != nullptr ? driver_of_lane_->notify() : keeper_parker_.unpark();
  if (wake) loop_.wake();
}

// After its poster has returned, only the thread that holds the baton moves a task.
void Lane::cancel(Task& task) noexcept {
  if (!task.linked()) return;
  const sync::MutexLock lock(mutex_);
  queue_.remove(task);
  if (queue_.empty()) queued_.store(false, std::memory_order_relaxed);
}

void Lane::finish(Waiter& waiter) noexcept {
  if (&waiter == driver_) {
    waiter.state_ = Waiter::State::done;
    loop_.do_not_wait();
    if (!controls_.promote_last) pass_on();
    return;
  }
  *answered_end_ = &waiter;
  answered_end_ = &waiter.next_answered_;
}

// Wakes the sleepers whose answers arrived in this turn. Each may be gone once it is unparked.
void Lane::wake_answered() noexcept {
  if (answered_ == nullptr) return;
  {
    const sync::MutexLock lock(mutex_);
    const unsigned most = crowd_size(loop_, driver_ == nullptr);
    if (sleepers_.size() > most) crowd_until_ = loop_.now().mono + crowd_time;
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
  this_thread().drives_lane = true;
  driver_ = &waiter;
  loop_.wait_by(waiter.wait_);
  while (waiter.state_ != Waiter::State::done) turn(never);
  driver_ = nullptr;
  this_thread().drives_lane = false;
  if (controls_.promote_last) pass_on();
}

// Tasks run inside the turn, so that one write carries everything they queued.
void Lane::turn(Deadline until) {
  loop_.defer(*this);
  loop_.turn(until);
  wake_answered();
}

// Takes the lock of enqueue(): either the work is seen here, or the thread that queues it sees a
// sleeper.
bool Lane::may_sleep() noexcept {
  if (answered_ != nullptr) return false;
  const sync::MutexLock lock(mutex_);
  if (controls_.look && !queue_.empty()) return false;
  switch (baton_) {
    case Baton::caller:
      baton_ = Baton::caller_asleep;
      return true;
    case Baton::keeper:
      baton_ = Baton::keeper_asleep;
      return true;
    default:  // stopped
      return false;
  }
}

void Lane::run_deferred(Now now) {
  for (;;) {
    Task* task = nullptr;
    {
      const sync::MutexLock lock(mutex_);
      set_awake();
      task = queue_.pop_front();
      if (queue_.empty()) queued_.store(false, std::memory_order_relaxed);
    }
    if (task == nullptr) return;
    task->run(now);
    // Work that is queued from here on is left to the next turn, as after a look under the lock.
    if (!queued_.load(std::memory_order_relaxed)) return;
  }
}

// A caller passes the baton on to the keeper or to the oldest sleeper, or releases it. A driver
// does the same (with `tell_driver` false), but does not call itself for asynchronous work that it
// waits for: it would then be `called` without a notification, and a post() would not notify it.
void Lane::pass_on(bool tell_driver) {
  Waiter* next = nullptr;
  bool keeper = false;
  {
    const sync::MutexLock lock(mutex_);
    const unsigned most = crowd_size(loop_, false);
    const bool crowd = driver_of_lane_ == nullptr && sleepers_.size() > most;
    const bool work = !queue_.empty() || (tell_driver && async_ > 0);
    if (crowd || (sleepers_.empty() && work)) {
      baton_ = Baton::called;
      keeper = true;
      if (crowd) crowd_until_ = loop_.now().mono + crowd_time;
    } else if (!sleepers_.empty()) {
      next = promote_oldest();
    } else {
      baton_ = Baton::free;
      released_at_ = loop_.now().mono;
    }
  }
  if (next != nullptr) return next->parker_.unpark();
  // A driver must look even if the baton is free, because the kernel has not been asked for
  // everything that is awaited.
  if (driver_of_lane_ == nullptr) {
    if (keeper) keeper_parker_.unpark();
  } else if (tell_driver && (keeper || controls_.tell_driver)) {
    driver_of_lane_->notify();
  }
}

Deadline Lane::poll() {
  constexpr unsigned most_turns = 1'000;
  {
    const sync::MutexLock lock(mutex_);
    if (baton_ != Baton::free && baton_ != Baton::called) return never;
    baton_ = Baton::keeper;
  }
  this_thread().drives_lane = true;
  loop_.wait_by(Wait::sleep);
  Deadline next{0};
  for (unsigned turns = 0; turns < most_turns && next == Deadline{0}; ++turns) {
    turn(Deadline{0});
    next = has_work() ? Deadline{0} : loop_.next_turn();
  }
  this_thread().drives_lane = false;
  pass_on(false);
  return queued_.load(std::memory_order_relaxed) ? Deadline{0} : next;
}

void Lane::keeper_main() {
  for (;;) {
    keeper_drive();
    {
      const sync::MutexLock lock(mutex_);
      if (baton_ == Baton::stopped) return;
    }
    keeper_parker_.park_for(grace_);
  }
}

// Drives if the baton was given to the keeper, or has been free for the grace time.
void Lane::keeper_drive() {
  const Deadline now = read_monotonic();
  {
    const sync::MutexLock lock(mutex_);
    const bool left_free = baton_ == Baton::free && now - released_at_ >= grace_;
    if (baton_ != Baton::called && !left_free) return;
    baton_ = Baton::keeper;
  }
  this_thread().drives_lane = true;
  Deadline until = never;
  do {
    const bool crowd = loop_.now().mono < crowd_until_;
    loop_.wait_by(crowd ? Wait::spin : Wait::sleep);
    if (crowd) loop_.yielding().yield();  // the woken callers may ask again first
    turn(until);
  } while (!step_down(loop_.now(), until));
  this_thread().drives_lane = false;
}

// Returns true if the keeper no longer has the baton. Right after a whole crowd was answered no
// caller sleeps, but most will soon be back; therefore a crowd is remembered for a while.
bool Lane::step_down(Now now, Deadline& until) {
  Waiter* next = nullptr;
  {
    const sync::MutexLock lock(mutex_);
    if (baton_ == Baton::stopped) return true;
    if (sleepers_.size() > crowd_size(loop_, true)) crowd_until_ = now.mono + crowd_time;
    until = now.mono < crowd_until_ ? crowd_until_ : never;
    if (sleepers_.empty() || until != never) return false;
    next = promote_oldest();
  }
  next->parker_.unpark();
  return true;
}

}  // namespace sheaf::socket
