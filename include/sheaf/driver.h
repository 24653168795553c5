#pragma once

/// @file
/// Driver: turns clients without a thread of the library, for programs that own their loop, and for
/// many clients that are to share one thread:
///
///     sheaf::Driver driver;                                   // outlives the clients
///     auto client = sheaf::Client::open(uri, {.driver = &driver});
///     client->async().get("key").then([](auto got) { … });    // runs inside driver.poll()
///     pollfd wanted{.fd = driver.descriptor(), .events = POLLIN};
///     while (poll(&wanted, 1, -1) > 0) driver.poll();
///
/// A program that only wants to choose when and where callbacks run leaves the clients their
/// threads, and opens them with `{.executor = driver.executor()}`.
///
/// A client that has a driver starts no thread. Its connections, deadlines, callbacks and log
/// records are the driver's work, and wait until a thread calls poll() or run(). Threads of libuv
/// look up the names of servers; numeric addresses need none. A store of `embedded://` with `data`
/// has a thread that writes its file.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include <sheaf/export.h>
#include <sheaf/move_only_function.h>

namespace sheaf {
inline namespace v0 {

/// Does the work of any number of clients on the threads that call it.
///
/// Blocking calls of such a client work on any thread, callbacks included: a caller that waits does
/// the work itself, without poll(). A client opens no extra connections (`extra_connections`).
///
/// Thread rule: any thread may call any member at any time. Several threads in run() share the
/// callbacks; those of one client still run one after another.
/// Lifetime: destroy the clients first. A driver that is destroyed drops the tasks that wait in it;
/// what a client had put there, that client runs itself when it is destroyed. In a forked child
/// poll() does nothing.
class SHEAF_API Driver {
 public:
  /// Throws std::system_error if the process may not open three more descriptors.
  Driver();
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Readable when poll() has something to do, a deadline included; for poll, epoll, libuv, Qt or
  /// GLib, level-triggered, not to be read or closed.
  int descriptor() const noexcept;
  /// How long until poll() has something to do by itself, 0 if it has now; nothing: it waits for
  /// servers and calls. Only for loops that cannot wait for the descriptor. Calls change it.
  std::optional<std::chrono::nanoseconds> timeout() const;

  /// Does what can be done without waiting: reads and writes, ends what is due, runs the callbacks
  /// that wait. How many callbacks ran. A callback may call anything of the driver and its clients
  /// but destroy the driver.
  std::size_t poll();
  /// Waits until there is something to do, at most for `wait` (none: for ever), and does it as
  /// poll(). False: there was nothing.
  bool run_one(std::optional<std::chrono::nanoseconds> wait = std::nullopt);
  /// Does what there is to do until the token is asked to stop: the loop of a thread for many
  /// clients, `std::jthread thread([&](std::stop_token stop) { driver.run(stop); });`. Throws
  /// std::system_error if the process may not open one more descriptor, which lets each run() end
  /// at once whatever other threads do.
  void run(const std::stop_token& stop);
  /// Adds a task of the program's own, which poll() runs among the callbacks. What it throws leaves
  /// poll(); the tasks after it wait for the next.
  void post(MoveOnlyFunction<void()> task);
  /// For ClientOptions::executor, of any number of clients: poll() runs their callbacks. It may
  /// outlive the driver: a task that it is given then is dropped.
  std::function<void(std::function<void()>)> executor() const;

  class State;  ///< Internal.
  /// Internal.
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace v0
}  // namespace sheaf
