#pragma once

// Shared by the uv_* files only.

#include <uv.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "base/read_clocks.h"
#include "socket/timer_heap.h"
#include "socket/uv/uv_loop.h"

namespace sheaf::socket {

// A connection that can be read without having been told that there is something to read.
class Readable {
 public:
  // False if it cannot now: something else is wanted of the connection. `wait`: for up to
  // `longest_read` if there is nothing.
  virtual bool try_read(bool wait) = 0;
  // libuv is to watch it from now on.
  virtual void watch() = 0;

 protected:
  ~Readable() = default;
};

class UvLoop::Impl {
 public:
  explicit Impl(SpinPolicy spin) : spin_(spin) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::string open();  // empty on success
  bool shut();         // false: must be kept for ever
  void turn(Deadline until);
  void wake() noexcept;
  void defer(Deferred& work);
  void forget(Deferred& work) noexcept;
  void post(Deferred& work) noexcept;
  void cancel(Deferred& work) noexcept;
  void close_descriptors() noexcept;

  // First thing in every libuv callback: the turn's clock is read once, after the wait.
  Now now_in_turn();
  Now now() const { return now_; }
  uv_loop_t* raw() { return &loop_; }
  TimerHeap& timers() { return timers_; }
  std::chrono::nanoseconds lateness() const { return lateness_; }
  Now refresh() { return now_ = read_clocks(); }
  void do_not_wait() { do_not_wait_ = true; }
  bool spins() const { return spin_.enabled; }
  void wait_by(Wait wait) { wait_by_ = wait; }
  void set_idle_hook(IdleHook* hook) { hook_ = hook; }

  // Descriptors that a forked child must close.
  void track(int fd) { fds_.insert(fd); }
  void untrack(int fd) { fds_.erase(fd); }
  void add(Readable& connection) { connections_.push_back(&connection); }
  void remove(Readable& connection) {
    std::erase(connections_, &connection);
    if (unwatched_ == &connection) unwatched_ = nullptr;
  }
  bool is_watched(const Readable& connection) const { return unwatched_ != &connection; }
  // libuv does not watch it now; the next poll will have it watched.
  void leave_unwatched(Readable& connection) { unwatched_ = &connection; }
  void dial_begins() { ++dials_; }
  void dial_ends() { --dials_; }

 private:
  void run_deferred();
  void take_posted();
  void wait(Deadline until);
  void poll(uv_run_mode mode);
  bool spin(Deadline until);
  bool wait_in_read(Deadline until);
  Readable* only_connection() const;

  SpinPolicy spin_;
  IdleHook* hook_ = nullptr;
  bool open_ = false;
  Wait wait_by_ = Wait::sleep;
  bool events_ = false;       // something happened in this turn
  bool clock_read_ = false;   // now_ is of this turn
  bool do_not_wait_ = false;  // in this turn
  unsigned spin_misses_ = 0;  // waits in a row that outlasted the budget
  uv_loop_t loop_{};
  uv_timer_t* alarm_ = nullptr;  // ends the wait; fires nothing itself
  uv_poll_t* waker_ = nullptr;
  int wake_fd_ = -1;
  Now now_;
  std::chrono::nanoseconds lateness_{0};
  TimerHeap timers_;
  std::vector<Deferred*> deferred_;
  std::atomic<bool> any_posted_ = false;
  std::mutex post_mutex_;
  std::vector<Deferred*> posted_;  // guarded by post_mutex_
  std::set<int> fds_;
  std::vector<Readable*> connections_;
  Readable* unwatched_ = nullptr;  // one of them, which is read without having been told
  unsigned dials_ = 0;             // in progress
};

// Closes a libuv handle and frees it when libuv lets go.
template <class Handle>
void close_and_delete(Handle* handle) noexcept {
  uv_close(reinterpret_cast<uv_handle_t*>(handle),
           [](uv_handle_t* h) { delete reinterpret_cast<Handle*>(h); });
}

// Sends, receives; owns the descriptor.
std::unique_ptr<Stream> make_uv_stream(UvLoop::Impl& loop, int fd, StreamSink& sink);

}  // namespace sheaf::socket
