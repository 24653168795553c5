#pragma once

/// @file
/// TaskQueue: lets a program with a loop of its own (poll, epoll, libuv, Qt, GLib) run a client's
/// callbacks on its own thread, when it wants:
///
///     sheaf::TaskQueue queue;
///     auto client = sheaf::Client::open(uri, {.executor = queue.executor()});
///     client->async().get("key").then([](auto got) { … });       // runs inside queue.run()
///     pollfd wanted{.fd = queue.descriptor(), .events = POLLIN};
///     while (poll(&wanted, 1, -1) > 0) queue.run();

#include <cstddef>
#include <functional>
#include <memory>

#include <sheaf/export.h>
#include <sheaf/move_only_function.h>

namespace sheaf {
inline namespace v0 {

/// Tasks that wait until the program runs them, and a descriptor that tells when there are some.
///
/// Thread rule: post() and the executor from any thread; all else from one thread at a time.
/// Lifetime: destroy the clients first. A queue that is destroyed drops what waits in it; what a
/// client had put there, that client runs itself when it is destroyed.
class SHEAF_API TaskQueue {
 public:
  /// Throws std::system_error when no descriptor can be had.
  TaskQueue();
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// Readable as long as a task waits; for poll and the like, not to be read or closed.
  int descriptor() const noexcept;
  /// For ClientOptions::executor, of any number of clients. It may outlive the queue: what it is
  /// given then is dropped.
  std::function<void(std::function<void()>)> executor() const;
  /// Adds a task of the program's own.
  void post(MoveOnlyFunction<void()> task);

  /// Runs the tasks that wait now, not those that they add, and returns how many. A task may call
  /// anything of the queue but the destructor. What a task throws leaves this call; those after it
  /// wait for the next.
  std::size_t run();
  /// Runs the oldest task; false if none waits.
  bool run_one();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace v0
}  // namespace sheaf
