#pragma once

// TaskList: tasks that wait to be run, oldest first.
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

  // Drops the task if the list is closed.
  void add(Task task) {
    const sync::MutexLock lock(mutex_);
    if (!closed_) tasks_.push_back(std::move(task));
  }
  // Runs the tasks that wait now, but not those that they add, and returns how many. An exception
  // that a task throws leaves this call; the tasks after it wait for the next call. Calls
  // `changed(n)` under the mutex, with the number that remain, before it runs a task.
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
  std::size_t size() {
    const sync::MutexLock lock(mutex_);
    return tasks_.size();
  }

  sync::Mutex mutex_;
  std::deque<Task> tasks_ SHEAF_GUARDED_BY(mutex_);
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
};

}  // namespace sheaf
