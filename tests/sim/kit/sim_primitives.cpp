// The functions of base/ with which threads synchronise, read clocks and draw entropy, and those of
// socket/lane/driver_signal.cpp, in place of the library's own: see sim_threads.h. Outside a run
// they do what the library's do.

#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/checks.h"
#include "base/mutex.h"
#include "base/parker.h"
#include "base/quiet_thread.h"
#include "base/random.h"
#include "base/read_clocks.h"
#include "base/stop_callback.h"
#include "base/this_thread.h"
#include "socket/lane/driver_signal.h"
#include "tests/sim/kit/sim_loop.h"
#include "tests/sim/kit/sim_threads.h"

namespace sheaf {
namespace {

sim::SimThreads* run() noexcept { return sim::SimThreads::current(); }

std::chrono::nanoseconds read_clock(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

// ---- mutex.cpp

namespace sync {

void Mutex::lock() noexcept SHEAF_UNCHECKED {
  run() != nullptr ? run()->lock(this) : mutex_.lock();
}
void Mutex::unlock() noexcept SHEAF_UNCHECKED {
  run() != nullptr ? run()->unlock(this) : mutex_.unlock();
}

void CondVar::wait(Mutex& mutex) noexcept { static_cast<void>(wait_until(mutex, never)); }

bool CondVar::wait_until(Mutex& mutex, Deadline until) noexcept {
  if (run() != nullptr) return run()->wait_for_notification(this, &mutex, until);
  constexpr std::chrono::hours longest{24};
  const Deadline now = read_monotonic();
  if (now >= until) return false;
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  condition_.wait_for(lock, std::min<std::chrono::nanoseconds>(until - now, longest));
  lock.release();
  return true;
}

void CondVar::notify_one() noexcept {
  run() != nullptr ? run()->notify(this, false) : condition_.notify_one();
}
void CondVar::notify_all() noexcept {
  run() != nullptr ? run()->notify(this, true) : condition_.notify_all();
}

}  // namespace sync

// ---- parker.cpp: by simulated threads only

bool Parker::wait(const std::chrono::nanoseconds* time) noexcept {
  SHEAF_CHECK(run() != nullptr);
  const Deadline until = time != nullptr ? read_monotonic() + *time : never;
  run()->wait("a permit", [&] { return state_.load() == permit ? Deadline{0} : until; });
  return state_.exchange(empty) == permit;
}

// The waiter may be gone as soon as another thread has run.
void Parker::unpark() noexcept {
  state_.store(permit);
  if (run() != nullptr) run()->point();
}

// ---- quiet_thread.cpp

// Holds either a simulated or a real thread.
struct QuietThread::Thread {
  Thread(const char* name, std::function<void()> main) {
    if (run() != nullptr) {
      simulated = &run()->start(name, std::move(main));
    } else {
      real = std::thread(std::move(main));
    }
  }
  ~Thread() { SHEAF_CHECK(simulated == nullptr); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  std::thread real;
  sim::SimThreads::Thread* simulated = nullptr;
};

QuietThread::QuietThread() noexcept = default;
QuietThread::QuietThread(const char* name, std::function<void()> main)
    : thread_(std::make_unique<Thread>(name, std::move(main))) {}
QuietThread::QuietThread(QuietThread&& other) noexcept = default;
QuietThread& QuietThread::operator=(QuietThread&& other) noexcept = default;
QuietThread::~QuietThread() = default;

// A run ends after all its threads.
void QuietThread::join() {
  if (thread_->simulated == nullptr) {
    thread_->real.join();
  } else if (run() != nullptr) {
    run()->wait_for_end(*thread_->simulated);
  }
  thread_->simulated = nullptr;
  thread_ = nullptr;
}

void QuietThread::detach() {
  if (thread_->simulated == nullptr) thread_->real.detach();
  thread_->simulated = nullptr;
  thread_ = nullptr;
}

void yield_processor() noexcept {
  run() != nullptr ? run()->point() : static_cast<void>(sched_yield());
}

// ---- this_thread.cpp

ThisThread& this_thread() noexcept {
  thread_local ThisThread of_the_system;
  return run() != nullptr ? run()->this_thread() : of_the_system;
}

// ---- stop_callback.cpp

StopCallback::StopCallback(const std::stop_token& token, StopHandler& handler)
    : handler_(handler), callback_(token, Call{*this}) {
  if (run() != nullptr) run()->point();
}

StopCallback::~StopCallback() {
  if (run() != nullptr) run()->wait_for_callback(this);
}

// The callback may be destroyed when its handler has returned.
void StopCallback::Call::operator()() const noexcept {
  const StopCallback* const address = &callback;
  StopHandler& handler = callback.handler_;
  if (run() == nullptr) return handler.on_stop_requested();
  if (!run()->begin_callback(address)) return;
  handler.on_stop_requested();
  run()->end_callback(address);
}

// ---- read_clocks.cpp

Now read_clocks() noexcept {
  if (run() != nullptr) return run()->world().now();
  return {read_clock(CLOCK_BOOTTIME),
          std::chrono::floor<std::chrono::milliseconds>(read_clock(CLOCK_REALTIME))};
}

Deadline read_monotonic() noexcept { return read_clocks().mono; }
// Virtual time passes only while all threads wait, so they use none.
std::chrono::nanoseconds read_process_time() noexcept {
  return run() != nullptr ? std::chrono::nanoseconds{0} : read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

// ---- entropy.cpp

Seed entropy() noexcept {
  if (run() != nullptr) return run()->random().fork();
  Seed seed{};
  while (getrandom(seed.data(), sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) {
  }
  return seed;
}

// ---- driver_signal.cpp: by simulated threads only

namespace socket {
namespace {

struct Watched {
  std::vector<const sim::SimLoop*> loops;
  Deadline ring = never;
};
std::map<const DriverSignal*, Watched>& all_watched() {
  static std::map<const DriverSignal*, Watched> all;
  return all;
}
Watched& watched_by(const DriverSignal* signal) { return all_watched()[signal]; }

std::set<const WaitEnd*>& ended_waits() {
  static std::set<const WaitEnd*> all;
  return all;
}

}  // namespace

WaitEnd::WaitEnd() = default;
WaitEnd::~WaitEnd() { ended_waits().erase(this); }
void WaitEnd::end() noexcept {
  ended_waits().insert(this);
  run()->point();
}

DriverSignal::DriverSignal() { watched_by(this) = {}; }
DriverSignal::~DriverSignal() { all_watched().erase(this); }

void DriverSignal::watch(const DrivenLoop& loop) {
  watched_by(this).loops.push_back(&static_cast<const sim::SimLoop&>(loop));
}
void DriverSignal::forget(const DrivenLoop& loop) noexcept {
  std::erase(watched_by(this).loops, &loop);
}
void DriverSignal::notify() noexcept {
  notified_ = true;
  run()->point();
}
void DriverSignal::clear() noexcept {
  notified_ = false;
  watched_by(this).ring = never;
}
void DriverSignal::ring_at(Deadline due) noexcept { watched_by(this).ring = due; }

bool DriverSignal::wait_until(Deadline until, const WaitEnd* end) noexcept {
  const auto due = [this, &watched = watched_by(this)] {
    if (notified_) return Deadline{0};
    Deadline first = watched.ring;
    for (const sim::SimLoop* const loop : watched.loops)
      first = std::min(first, loop->next_arrival());
    return first;
  };
  run()->wait("a driver",
              [&] { return ended_waits().contains(end) ? Deadline{0} : std::min(until, due()); });
  return due() <= read_monotonic();
}

bool DriverSignal::forked() const noexcept { return false; }

}  // namespace socket

}  // namespace sheaf
