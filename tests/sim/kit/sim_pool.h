#pragma once

// SimPool: an executor of the application with two simulated threads.
//
// Thread rule: any simulated thread. It outlives the clients that use it.

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/quiet_thread.h"

namespace sheaf::sim {

class SimPool {
 public:
  using Task = std::function<void()>;

  SimPool() {
    for (int i = 0; i < 2; ++i) threads_.emplace_back("pool", [this] { run(); });
  }
  // Runs the work that is queued.
  ~SimPool() {
    {
      const sync::MutexLock lock(mutex_);
      ending_ = true;
      changed_.notify_all();
    }
    for (QuietThread& thread : threads_) thread.join();
  }
  SimPool(const SimPool&) = delete;
  SimPool& operator=(const SimPool&) = delete;

  void add(Task task) {
    const sync::MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

 private:
  void run() {
    const sync::MutexLock lock(mutex_);
    while (!ending_ || !tasks_.empty()) {
      if (tasks_.empty()) {
        changed_.wait(mutex_);
        continue;
      }
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      mutex_.unlock();
      task();
      task = nullptr;
      mutex_.lock();
    }
  }

  sync::Mutex mutex_;
  sync::CondVar changed_;
  std::deque<Task> tasks_ SHEAF_GUARDED_BY(mutex_);
  bool ending_ SHEAF_GUARDED_BY(mutex_) = false;
  std::vector<QuietThread> threads_;
};

}  // namespace sheaf::sim
