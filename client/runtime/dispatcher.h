#pragma once

// Dispatcher: runs callbacks and log records, one after another, never under the baton: on a thread
// of its own, or on the user's executor.
//
// Thread rule: post() from any thread. close() once, from any thread, a running callback included.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/quiet_thread.h"

namespace sheaf::client::runtime {

class Dispatcher {
 public:
  using Job = std::function<void()>;
  using Executor = std::function<void(Job)>;

  explicit Dispatcher(Executor executor);
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Before the first post. Without an executor it starts the thread; throws std::system_error when
  // none can be had.
  void start();
  void post(Job job);
  // The user's executor; empty if there is none.
  const Executor& executor() const noexcept { return state_->executor; }
  // Runs what is queued and waits for what runs, except for the job that calls this. Then no job of
  // this dispatcher runs or will run.
  void close() noexcept;
  // In a forked child, where the thread is gone and the mutex may be held for ever: leaves both
  // behind.
  void abandon() noexcept;

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Job> jobs;
    Executor executor;
    bool closing = false;
    bool running = false;  // a job is being run
    std::thread::id runner;
  };
  static bool run_one(State& state, std::unique_lock<std::mutex>& lock);
  static void main(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  QuietThread thread_;
};

}  // namespace sheaf::client::runtime
