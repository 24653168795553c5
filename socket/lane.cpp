#include "socket/lane.h"

#include <pthread.h>

#include <algorithm>

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

Lane::~Lane() { stop(); }

void Lane::start() {
  keeper_ = start_quiet_thread([this] { keeper_main(); });
}

void Lane::stop() noexcept {
  if (!keeper_.joinable()) return;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    wake = polling_;
  }
  if (wake) loop_.wake();
  keeper_parker_.unpark();
  keeper_.join();
}

void Lane::call(Task& task, Waiter& waiter) {
  const NoCancel no_cancel;
  bool sleep = false;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(task);
    sleep = driving_;
    wake = polling_;
    if (sleep) sleepers_.push_back(waiter);
    driving_ = true;
  }
  if (sleep) {
    if (wake) loop_.wake();
    waiter.parker_.park();
    if (!waiter.crowned_) return;
  }
  drive(waiter);
}

void Lane::post(Task& task) {
  bool keeper = false;
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(task);
    wake = polling_;
    keeper = !driving_;
    if (keeper) driving_ = keeper_called_ = true;
  }
  if (keeper) keeper_parker_.unpark();
  if (wake) loop_.wake();
}

void Lane::finish(Waiter& waiter) noexcept {
  bool sleeps = false;
  {
    const std::scoped_lock lock(mutex_);
    waiter.done_ = true;
    sleeps = sleepers_.contains(waiter);
    if (sleeps) sleepers_.remove(waiter);
  }
  if (sleeps) {
    waiter.parker_.unpark();
  } else {
    loop_.hurry();  // it is the driver's own: this turn need not wait
  }
}

void Lane::drive(Waiter& waiter) {
  driving_thread = true;
  loop_.allow_spin(true);
  while (!waiter.done_) turn(never);
  driving_thread = false;
  pass_on();
}

// Tasks run inside the turn, so that one write carries what all of them queued.
void Lane::turn(Deadline until) {
  loop_.defer(*this);
  loop_.turn(until);
  const std::scoped_lock lock(mutex_);
  polling_ = false;
}

void Lane::run_deferred(Now now) { drain(now); }

void Lane::drain(Now now) {
  for (;;) {
    Task* task = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      task = queue_.pop_front();
      if (task == nullptr) {
        polling_ = true;
        if (stopping_) loop_.hurry();  // stop() saw no poll to wake, and will wake none
        return;
      }
    }
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
      keeper = keeper_called_ = true;
      if (!sleepers_.empty()) crowd_until_ = loop_.now().mono + grace;
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
    keeper_parker_.park_for(grace);
  }
}

// True if the keeper now holds the baton: it was given, or has been lying about for the grace time.
bool Lane::keeper_may_drive() {
  const Deadline now = read_clocks().mono;
  const std::scoped_lock lock(mutex_);
  if (stopping_) return false;
  if (keeper_called_) {
    keeper_called_ = false;
    return true;
  }
  if (driving_ || now - released_at_ < grace) return false;
  driving_ = true;
  return true;
}

void Lane::keeper_drive() {
  driving_thread = true;
  Deadline until = never;
  do {
    loop_.allow_spin(loop_.now().mono < crowd_until_);
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
    if (sleepers_.size() > crowd_size) crowd_until_ = now.mono + grace;
    until = now.mono < crowd_until_ ? crowd_until_ : never;
    if (sleepers_.empty() || until != never) return false;
    next = sleepers_.pop_front();
    next->crowned_ = true;
  }
  next->parker_.unpark();
  return true;
}

}  // namespace sheaf::socket
