#pragma once

// LaneDriver: turns lanes that have no keeper, when its user says so, and runs the callbacks of
// their clients. It is what a keeper and a dispatcher are with threads of their own.
//
// A lane whose baton is free is turned by poll(). A caller that waits drives as ever, and notifies
// the driver when it is done: what it leaves behind is the driver's.
//
// Thread rule: add() and remove() by the lanes; the rest from any thread. poll() runs tasks without
// a lock: they may do anything but destroy the driver.

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/task_list.h"
#include "socket/lane/driver_signal.h"

namespace sheaf::socket {

class Lane;

class LaneDriver {
 public:
  using Task = TaskList::Task;

  LaneDriver() = default;
  LaneDriver(const LaneDriver&) = delete;
  LaneDriver& operator=(const LaneDriver&) = delete;

  // When remove() returns the lane is not being turned, and will not be. May throw
  // std::system_error.
  void add(Lane& lane, const DrivenLoop& loop);
  void remove(Lane& lane, const DrivenLoop& loop) noexcept;
  // A lane has something to do, whether or not its loop knows it.
  void notify() noexcept { signal_.notify(); }

  // To be run by poll(). Dropped once it is closed.
  void post(Task task) {
    tasks_.add(std::move(task), [this](std::size_t) { notify(); });
  }
  // Its user has gone. Drops the tasks that wait: they may hold clients, and those this driver.
  void close() { tasks_.close(); }
  // Turns all lanes without waiting, then runs the tasks that wait now; how many. A task that
  // throws leaves this call; those after it wait for the next. In a forked child it does nothing.
  std::size_t poll();
  // Sleeps until poll() has something to do; false: not until then, or not when the wait was ended.
  bool wait_until(Deadline until, const WaitEnd* end = nullptr) noexcept {
    return signal_.wait_until(until, end);
  }
  bool forked() const noexcept { return signal_.forked(); }
  int descriptor() const noexcept { return signal_.descriptor(); }
  // When it has something to do by itself; `never`: it waits for others.
  Deadline due() const noexcept { return due_; }

 private:
  DriverSignal signal_;
  std::atomic<Deadline> due_ = never;
  sync::Mutex lanes_mutex_;  // held while lanes are turned
  std::vector<Lane*> lanes_ SHEAF_GUARDED_BY(lanes_mutex_);
  TaskList tasks_;
};

}  // namespace sheaf::socket
