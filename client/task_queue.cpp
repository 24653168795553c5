#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <sheaf/task_queue.h>

#include "base/task_list.h"

namespace sheaf {
inline namespace v0 {

struct TaskQueue::State {
  State() : descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~State() { ::close(descriptor); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void post(MoveOnlyFunction<void()> task) {
    tasks.add(std::move(task), [this](std::size_t waiting) {
      if (waiting == 1) static_cast<void>(eventfd_write(descriptor, 1));
    });
  }
  // Resets the descriptor once nothing waits.
  auto taken() const {
    return [this](std::size_t waiting) {
      eventfd_t count = 0;
      if (waiting == 0) static_cast<void>(eventfd_read(descriptor, &count));
    };
  }

  const int descriptor;
  TaskList tasks;
};

TaskQueue::TaskQueue() : state_(std::make_shared<State>()) {}
TaskQueue::~TaskQueue() { state_->tasks.close(); }

int TaskQueue::descriptor() const noexcept { return state_->descriptor; }

std::function<void(std::function<void()>)> TaskQueue::executor() const {
  return [state = state_](std::function<void()> task) { state->post(std::move(task)); };
}

void TaskQueue::post(MoveOnlyFunction<void()> task) { state_->post(std::move(task)); }

bool TaskQueue::run_one() { return state_->tasks.run_one(state_->taken()); }

std::size_t TaskQueue::run() { return state_->tasks.run(state_->taken()); }

}  // namespace v0
}  // namespace sheaf
