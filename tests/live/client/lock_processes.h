#pragma once

// Locks between processes: starts the processes, waits for them, and continues those that have
// stopped themselves.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sheaf/locker.h>

#include "tests/contract/endpoints.h"
#include "tests/support/sanitized.h"

namespace sheaf::test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline constexpr int each = share_of(500);

// Runs `work` in a process of its own; its result is the exit code. No client may be open yet.
template <class Work>
pid_t start_process(const Work& work) {
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process could be started");
  if (pid == 0) {
    int code = 99;
    try {
      code = work();
    } catch (const std::exception& error) {
      static_cast<void>(std::fprintf(stderr, "process: %s\n", error.what()));
    }
    _exit(code);
  }
  return pid;
}

// Waits until the process stops itself or ends. Returns the status of waitpid.
inline int wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
  return status;
}

inline void wait_out(std::chrono::milliseconds time) {
  static_cast<void>(poll(nullptr, 0, static_cast<int>(time.count())));
}

inline int number_in(const GetResult& value) { return value ? std::stoi(value->data) : 0; }

// Continues each process when `rest` has passed since it stopped itself, until all have ended.
// Returns the number of stops.
inline int herd(std::vector<pid_t> pids, std::chrono::milliseconds rest = 400ms) {
  struct Stopped {
    pid_t pid;
    Clock::time_point go_on;
  };
  std::deque<Stopped> stopped;
  int stops = 0;
  while (!pids.empty()) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WUNTRACED | WNOHANG);
    if (pid > 0 && WIFSTOPPED(status)) {
      ++stops;
      stopped.push_back({pid, Clock::now() + rest});
    } else if (pid > 0 && std::ranges::find(pids, pid) != pids.end()) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      std::erase(pids, pid);
    } else {
      wait_out(2ms);
    }
    while (!stopped.empty() && stopped.front().go_on <= Clock::now()) {
      kill(stopped.front().pid, SIGCONT);
      stopped.pop_front();
    }
  }
  return stops;
}

// Lets a thread wait for the lock and calls `release`. Returns how long after the time that this
// returned the thread got the lock.
inline Clock::duration time_to_lock(Client& client,
                                    const std::function<Clock::time_point()>& release) {
  Locker locker(client);
  const std::uint64_t before = client.stats()[0].replies;
  std::optional<Clock::time_point> got_at;
  std::thread waiter([&] {
    const auto guard = locker.lock("sum", {.wait = 20s});
    if (guard) got_at = Clock::now();
  });
  // The thread has asked once, was refused, and has asked for the watch or once more.
  while (client.stats()[0].replies < before + 2) std::this_thread::yield();
  const Clock::time_point since = release();
  waiter.join();
  return got_at ? *got_at - since : 1h;
}

// Measures how soon a client gets the lock that another releases, several times. A busy machine
// delays some rounds, so the median counts.
inline void expect_handover_within(const std::string& uri, int rounds, Clock::duration limit) {
  Client holder = open(uri);
  Client client = open(uri);
  Locker locker(holder);
  std::vector<Clock::duration> times;
  for (int i = 0; i < rounds; ++i) {
    auto guard = locker.lock("sum", {.wait = 10s});
    const auto release = [&] {
      const auto now = Clock::now();
      guard->release().value();
      return now;
    };
    times.push_back(time_to_lock(client, release));
  }
  std::ranges::sort(times);
  EXPECT_LT(times[times.size() / 2], limit);
}

// Measures how soon a client gets the lock of a process that stops with a lease of 1 s and is
// killed.
inline void expect_inheritance_within(const std::string& uri, Clock::duration limit) {
  const pid_t holder = start_process([&] {
    Client client = open(uri);
    Locker locker(client, {.lease = 1s});
    const auto guard = locker.lock("sum", {.wait = 10s});
    raise(SIGSTOP);  // shows that it holds the lock
    return 1;
  });
  EXPECT_TRUE(WIFSTOPPED(wait_for(holder)));
  Client client = open(uri);
  const auto waited = time_to_lock(client, [&] {
    const auto now = Clock::now();
    kill(holder, SIGKILL);
    return now;
  });
  EXPECT_LT(waited, limit);
  EXPECT_TRUE(WIFSIGNALED(wait_for(holder)));
}

// Holds a lock on a server that restarts without its memory.
template <class Server>
void expect_a_restart_to_end_the_belief(Server& server, const std::string& uri,
                                        const std::string& key) {
  Client client = open(uri);
  Locker locker(client);
  auto guard = locker.lock("sum", {.wait = 10s});
  ASSERT_TRUE(guard);
  guard->write(key, "1").value();
  std::atomic<bool> lost = false;
  guard->on_loss([&](const Error& why) {
    EXPECT_EQ(why.reason, Reason::connection_lost) << why.message();
    lost = true;
  });
  server.kill();
  while (!lost) std::this_thread::yield();
  EXPECT_FALSE(guard->held());
  server.restart();
  auto next = locker.lock("sum", {.wait = 10s});
  ASSERT_TRUE(next);
  EXPECT_EQ(guard->write(key, "x").error().reason, Reason::lock_lost);
  EXPECT_FALSE(guard->release().value());
  EXPECT_TRUE(next->held());
  EXPECT_FALSE(client.get(key).value().has_value());
}

}  // namespace sheaf::test
