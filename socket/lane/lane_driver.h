#pragma once

// LaneDriver: does without threads what a keeper and a dispatcher do with them. When its user calls
// poll(), it turns the lanes and runs the callbacks of their clients.
//
// poll() turns a lane whose baton is free. A caller that waits drives as usual, and notifies the
// driver when it is done: the driver takes over the work that remains.
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

  // After remove() has returned, the lane is not turned any more. add() may throw
  // std::system_error.
  void add(Lane& lane, const DrivenLoop& loop);
  void remove(Lane& lane, const DrivenLoop& loop) noexcept;
  // A lane has something to do, even if its loop does not know it.
  void notify() noexcept { signal_.notify(); }

  // Gives poll() a task to run. Drops it if the driver is closed.
  void post(Task task) {
    tasks_.add(std::move(task));
    notify();
  }
  // Its user has gone. Drops the waiting tasks: they may hold clients, which hold this driver.
  void close() { tasks_.close(); }
  // Turns all lanes without waiting, then runs the tasks that wait now, and returns how many. An
  // exception that a task throws leaves this call; the tasks after it wait for the next call. Does
  // nothing in a forked child.
  std::size_t poll();
  // Sleeps until poll() has something to do. Returns false if nothing came in time, or if the wait
  // was ended first.
  bool wait_until(Deadline until, const WaitEnd* end = nullptr) noexcept {
    return signal_.wait_until(until, end);
  }
  bool forked() const noexcept { return signal_.forked(); }
  int descriptor() const noexcept { return signal_.descriptor(); }
  // When it next has something to do by itself; `never`: not before an event.
  Deadline due() const noexcept { return due_; }

 private:
  DriverSignal signal_;
  std::atomic<Deadline> due_ = never;
  sync::Mutex lanes_mutex_;  // held while lanes are turned
  std::vector<Lane*> lanes_ SHEAF_GUARDED_BY(lanes_mutex_);
  TaskList tasks_;
};

}  // namespace sheaf::socket
