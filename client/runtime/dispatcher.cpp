#include "client/runtime/dispatcher.h"

namespace sheaf::client::runtime {

Dispatcher::Dispatcher(Executor executor) : state_(std::make_shared<State>()) {
  state_->executor = std::move(executor);
}

Dispatcher::~Dispatcher() { close(); }

void Dispatcher::post(Job job) {
  std::unique_lock lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
  if (state_->executor) {
    lock.unlock();
    state_->executor([state = state_] {
      std::unique_lock inner(state->mutex);
      state->changed.wait(inner, [&] { return !state->running; });
      run_one(*state, inner);
    });
    return;
  }
  state_->changed.notify_one();
}

void Dispatcher::start() {
  if (state_->executor) return;
  thread_ = QuietThread("sheaf-callbacks", [state = state_] { main(state); });
}

// Runs the oldest job with the lock released. What a job throws ends with it: one faulty callback
// must not stop the others.
bool Dispatcher::run_one(State& state, std::unique_lock<std::mutex>& lock) {
  if (state.jobs.empty()) return false;
  Job job = std::move(state.jobs.front());
  state.jobs.pop_front();
  const bool outermost = !state.running;
  const std::thread::id previous = state.runner;
  state.running = true;
  state.runner = std::this_thread::get_id();
  lock.unlock();
  try {
    job();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
  job = nullptr;
  lock.lock();
  state.running = !outermost;
  state.runner = previous;
  state.changed.notify_all();
  return true;
}

void Dispatcher::main(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  for (;;) {
    while (run_one(*state, lock)) {
    }
    if (state->closing) return;
    state->changed.wait(lock, [&] { return state->closing || !state->jobs.empty(); });
  }
}

void Dispatcher::abandon() noexcept {
  static_cast<void>(new QuietThread(std::move(thread_)));
  static_cast<void>(new std::shared_ptr<State>(std::move(state_)));
}

void Dispatcher::close() noexcept {
  if (state_ == nullptr) return;
  std::unique_lock lock(state_->mutex);
  if (state_->closing) return;
  const bool inside = state_->running && state_->runner == std::this_thread::get_id();
  if (!inside) state_->changed.wait(lock, [&] { return !state_->running; });
  while (run_one(*state_, lock)) {
  }
  state_->closing = true;
  state_->changed.notify_all();
  lock.unlock();
  if (!thread_.joinable()) return;
  if (inside) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace sheaf::client::runtime
