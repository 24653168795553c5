#pragma once

// Dispatcher: runs callbacks and log records one after another, never under the baton, on a thread
// of its own or as tasks of the user's executor.
//
// On an executor it is a strand: one task announces each job. A task that finds a job running on
// another thread returns at once, and the thread that ends that job announces the next, so no
// thread of the executor ever waits. If a job turns the executor's loop, a task on that same thread
// runs the next job at once.
//
// Thread rule: post() and deliver() from any thread. close() once, from any thread, a running job
// included.

#include <deque>
#include <exception>
#include <functional>
#include <memory>

#include <sheaf/move_only_function.h>

#include "base/mutex.h"
#include "base/quiet_thread.h"
#include "base/this_thread.h"

namespace sheaf::client::runtime {

class Dispatcher {
 public:
  using Job = MoveOnlyFunction<void()>;
  using Executor = std::function<void(std::function<void()>)>;
  using ExceptionHandler = std::function<void(std::exception_ptr)>;

  // `handler` gets what a job or the executor throws; without a handler that ends the process.
  Dispatcher(Executor executor, ExceptionHandler handler);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Call before the first post. Without an executor it starts the thread, and throws
  // std::system_error if that is impossible.
  void start();
  // False after close(): the caller keeps the job.
  bool post(Job&& job);
  // For a job that must not be lost: after close() it runs on the calling thread, the only one
  // left. Not under a mutex.
  void deliver(Job job);
  bool has_executor() const noexcept { return state_->executor != nullptr; }
  // Calls the executor; the handler gets what that throws.
  void execute(std::function<void()> task) const noexcept { execute(*state_, std::move(task)); }
  // Runs user code; the handler gets what it throws.
  void run_guarded(const Job& code) const noexcept { run_guarded(*state_, code); }
  // Runs all queued jobs and waits for the running one, unless that is the caller. Afterwards no
  // job of this dispatcher runs.
  void close() noexcept;
  // For a forked child, where the thread is gone and the mutex may be held forever: leaks both.
  void abandon() noexcept;

 private:
  struct State {
    Executor executor;
    ExceptionHandler handler;
    sync::Mutex mutex;
    sync::CondVar changed;
    std::deque<Job> jobs SHEAF_GUARDED_BY(mutex);
    bool closing SHEAF_GUARDED_BY(mutex) = false;
    bool running SHEAF_GUARDED_BY(mutex) = false;        // a job is being run
    bool announce_next SHEAF_GUARDED_BY(mutex) = false;  // a task arrived while one ran
    const ThisThread* runner SHEAF_GUARDED_BY(mutex) = nullptr;
  };
  static void execute(const State& state, std::function<void()> task) noexcept;
  static void run_guarded(const State& state, const Job& code) noexcept;
  static bool run_one(State& state) SHEAF_REQUIRES(state.mutex);
  static void announce(const std::shared_ptr<State>& state) noexcept;
  static void run_task(const std::shared_ptr<State>& state);
  static void main(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  QuietThread thread_;
};

}  // namespace sheaf::client::runtime
