#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include <sheaf/task_queue.h>

#include "base/mutex.h"

namespace sheaf {
inline namespace v0 {

struct TaskQueue::State {
  State() : descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~State() { ::close(descriptor); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void post(std::function<void()> task) {
    const sync::MutexLock lock(mutex);
    if (closed) return;
    tasks.push_back(std::move(task));
    if (tasks.size() == 1) static_cast<void>(eventfd_write(descriptor, 1));
  }
  // Null: none waits.
  std::function<void()> take() {
    const sync::MutexLock lock(mutex);
    if (tasks.empty()) return nullptr;
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    eventfd_t count = 0;
    if (tasks.empty()) static_cast<void>(eventfd_read(descriptor, &count));
    return task;
  }
  std::size_t size() {
    const sync::MutexLock lock(mutex);
    return tasks.size();
  }
  void close() {
    std::deque<std::function<void()>> dropped;  // outlives the lock: destructors may post
    const sync::MutexLock lock(mutex);
    closed = true;
    dropped.swap(tasks);
  }

  const int descriptor;
  sync::Mutex mutex;
  std::deque<std::function<void()>> tasks SHEAF_GUARDED_BY(mutex);
  bool closed SHEAF_GUARDED_BY(mutex) = false;
};

TaskQueue::TaskQueue() : state_(std::make_shared<State>()) {}
TaskQueue::~TaskQueue() { state_->close(); }

int TaskQueue::descriptor() const noexcept { return state_->descriptor; }

std::function<void(std::function<void()>)> TaskQueue::executor() const {
  return [state = state_](std::function<void()> task) { state->post(std::move(task)); };
}

void TaskQueue::post(std::function<void()> task) { state_->post(std::move(task)); }

bool TaskQueue::run_one() {
  const std::function<void()> task = state_->take();
  if (task == nullptr) return false;
  task();
  return true;
}

std::size_t TaskQueue::run() {
  std::size_t done = 0;
  for (std::size_t left = state_->size(); left > 0 && run_one(); --left) ++done;
  return done;
}

}  // namespace v0
}  // namespace sheaf
