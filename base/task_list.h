#pragma once

// TaskList: tasks that wait to be run, oldest first. `changed` is called under the list's mutex, so
// that the number it reports agrees with the list.
//
// Thread rule: any thread. Tasks run without the mutex.

#include <cstddef>
#include <deque>
#include <utility>

#include <sheaf/move_only_function.h>

#include "base/mutex.h"

namespace sheaf {

class TaskList {
 public:
  using Task = MoveOnlyFunction<void()>;

  TaskList() = default;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;

  // Calls `changed(n)` with the number of waiting tasks. Drops the task if the list is closed.
  template <class Changed>
  void add(Task task, const Changed& changed) {
    const sync::MutexLock lock(mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
    changed(tasks_.size());
  }
  // Runs the oldest task; returns false if none waits. Calls `changed(n)` with the number that
  // remain before it runs the task, because the task may throw.
  template <class Changed>
  bool run_one(const Changed& changed) {
    Task task;
    {
      const sync::MutexLock lock(mutex_);
      if (tasks_.empty()) return false;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      changed(tasks_.size());
    }
    task();
    return true;
  }
  // Runs the tasks that wait now, but not those that they add, and returns how many. An exception
  // that a task throws leaves this call; the tasks after it wait for the next call.
  template <class Changed>
  std::size_t run(const Changed& changed) {
    std::size_t done = 0;
    for (std::size_t left = size(); left > 0 && run_one(changed); --left) ++done;
    return done;
  }
  // Drops the waiting tasks and all later ones.
  void close() {
    std::deque<Task> dropped;  // outlives the lock: destructors may add
    const sync::MutexLock lock(mutex_);
    closed_ = true;
    dropped.swap(tasks_);
  }

 private:
  std::size_t size() {
    const sync::MutexLock lock(mutex_);
    return tasks_.size();
  }

  sync::Mutex mutex_;
  std::deque<Task> tasks_ SHEAF_GUARDED_BY(mutex_);
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
};

}  // namespace sheaf
