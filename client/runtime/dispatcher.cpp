#include "client/runtime/dispatcher.h"

namespace sheaf::client::runtime {

Dispatcher::Dispatcher(Executor executor, ExceptionHandler handler)
    : state_(std::make_shared<State>()) {
  state_->executor = std::move(executor);
  state_->handler = std::move(handler);
}

Dispatcher::~Dispatcher() { close(); }

bool Dispatcher::post(Job&& job) {
  {
    const sync::MutexLock lock(state_->mutex);
    if (state_->closing) return false;
    state_->jobs.push_back(std::move(job));
  }
  if (has_executor()) {
    announce(state_);
  } else {
    state_->changed.notify_one();
  }
  return true;
}

void Dispatcher::deliver(Job job) {
  // A refused job is not moved from.
  if (!post(std::move(job))) run_guarded(job);  // NOLINT(bugprone-use-after-move)
}

void Dispatcher::start() {
  if (has_executor()) return;
  thread_ = QuietThread("sheaf-callbacks", [state = state_] { main(state); });
}

void Dispatcher::run_guarded(const State& state, const Job& code) noexcept {
  try {
    code();
  } catch (...) {
    if (!state.handler) std::terminate();
    state.handler(std::current_exception());
  }
}

void Dispatcher::execute(const State& state, std::function<void()> task) noexcept {
  run_guarded(state, [&] { state.executor(std::move(task)); });
}

void Dispatcher::announce(const std::shared_ptr<State>& state) noexcept {
  execute(*state, [state] { run_task(state); });
}

// A task of the executor runs one job, unless another thread is running one.
void Dispatcher::run_task(const std::shared_ptr<State>& state) {
  bool next = false;
  {
    const sync::MutexLock lock(state->mutex);
    if (state->running && state->runner != &this_thread()) {
      state->announce_next = true;
      return;
    }
    const bool outermost = !state->running;
    run_one(*state);
    // Tasks that found this job running have returned: announce one for the next job, and so on.
    next = outermost && state->announce_next && !state->jobs.empty();
    if (outermost && !next) state->announce_next = false;
  }
  if (next) announce(state);
}

// Runs the oldest job with the mutex released.
bool Dispatcher::run_one(State& state) {
  if (state.jobs.empty()) return false;
  Job job = std::move(state.jobs.front());
  state.jobs.pop_front();
  const bool outermost = !state.running;
  const ThisThread* const previous = state.runner;
  state.running = true;
  state.runner = &this_thread();
  state.mutex.unlock();
  run_guarded(state, job);
  job = nullptr;
  state.mutex.lock();
  state.running = !outermost;
  state.runner = previous;
  state.changed.notify_all();
  return true;
}

// The thread that closes runs jobs, too; meanwhile this one waits.
void Dispatcher::main(const std::shared_ptr<State>& state) {
  const sync::MutexLock lock(state->mutex);
  for (;;) {
    while (!state->running && run_one(*state)) {
    }
    if (state->closing) return;
    while (!state->closing && (state->running || state->jobs.empty()))
      state->changed.wait(state->mutex);
  }
}

void Dispatcher::abandon() noexcept {
  static_cast<void>(new QuietThread(std::move(thread_)));
  static_cast<void>(new std::shared_ptr<State>(std::move(state_)));
}

void Dispatcher::close() noexcept {
  if (state_ == nullptr) return;
  bool inside = false;
  {
    const sync::MutexLock lock(state_->mutex);
    if (state_->closing) return;
    inside = state_->running && state_->runner == &this_thread();
    while (!inside && state_->running) state_->changed.wait(state_->mutex);
    while (run_one(*state_)) {
    }
    state_->closing = true;
    state_->changed.notify_all();
  }
  if (!thread_.joinable()) return;
  if (inside) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

}  // namespace sheaf::client::runtime
