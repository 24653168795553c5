#include "socket/lane/lane_driver.h"

#include <algorithm>
#include <utility>

#include "socket/lane/lane.h"

namespace sheaf::socket {

void LaneDriver::add(Lane& lane, const DrivenLoop& loop) {
  const sync::MutexLock lock(lanes_mutex_);
  lanes_.reserve(lanes_.size() + 1);
  signal_.watch(loop);
  lanes_.push_back(&lane);
}

void LaneDriver::remove(Lane& lane, const DrivenLoop& loop) noexcept {
  const sync::MutexLock lock(lanes_mutex_);
  if (std::erase(lanes_, &lane) > 0) signal_.forget(loop);
}

void LaneDriver::post(Task task) {
  {
    const sync::MutexLock lock(tasks_mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
  }
  notify();
}

void LaneDriver::close() {
  std::deque<Task> dropped;  // outlives the lock: destructors may post
  const sync::MutexLock lock(tasks_mutex_);
  closed_ = true;
  dropped.swap(tasks_);
}

std::size_t LaneDriver::poll() {
  if (signal_.forked()) return 0;
  {
    const sync::MutexLock lock(lanes_mutex_);
    signal_.clear();
    Deadline due = never;
    for (Lane* const lane : lanes_) due = std::min(due, lane->poll());
    due_ = due;
    signal_.ring_at(due);
  }
  std::size_t done = 0;
  for (std::size_t left = tasks_waiting(); left > 0 && run_task(); --left) ++done;
  return done;
}

std::size_t LaneDriver::tasks_waiting() {
  const sync::MutexLock lock(tasks_mutex_);
  return tasks_.size();
}

// Tells of those that are left, before the task runs: it may throw.
bool LaneDriver::run_task() {
  Task task;
  {
    const sync::MutexLock lock(tasks_mutex_);
    if (tasks_.empty()) return false;
    task = std::move(tasks_.front());
    tasks_.pop_front();
    if (!tasks_.empty()) notify();
  }
  task();
  return true;
}

}  // namespace sheaf::socket
