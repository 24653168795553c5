#pragma once

// The production loop and dialer: libuv's uv_poll on sockets that the library owns. It does not use
// libuv's stream writes, which raise SIGPIPE, nor its timers, which fire before reads.
//
// Thread rule: as DrivenLoop; only wake() and post() may be called from any thread.

#include <atomic>
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/read_clocks.h"
#include "socket/seam.h"
#include "socket/timer_heap.h"
#include "socket/uv/direct_reads.h"
#include "socket/uv/uv_handles.h"

namespace sheaf::socket {

// How a turn polls before it sleeps in the kernel.
struct SpinPolicy {
  bool enabled = true;
  std::chrono::nanoseconds budget{50'000};  // the longest time to poll, as long as it pays
};

class UvLoop final : public DrivenLoop {
 public:
  // Fails when descriptors are exhausted; the text says so.
  static std::expected<std::unique_ptr<UvLoop>, std::string> create(SpinPolicy spin);
  ~UvLoop() override;
  UvLoop(const UvLoop&) = delete;
  UvLoop& operator=(const UvLoop&) = delete;

  Now now() const override { return now_; }
  void turn(Deadline until) override;
  void wake() noexcept override;
  std::unique_ptr<Timer> timer(TimerSink& sink) override { return timers_.make(sink); }
  void defer(Deferred& work) override;
  void forget(Deferred& work) noexcept override;
  std::chrono::nanoseconds lateness() const override { return lateness_; }

  Now refresh() noexcept override { return now_ = read_clocks(); }
  void do_not_wait() noexcept override { do_not_wait_ = true; }
  void wait_by(Wait wait) noexcept override { wait_by_ = wait; }
  Yielding& yielding() noexcept override { return yielding_; }
  void set_idle_hook(IdleHook* hook) noexcept override { hook_ = hook; }
  void post(Deferred& work) noexcept override;
  void cancel(Deferred& work) noexcept override;
  Deadline next_turn() const noexcept override { return busy_ ? Deadline{0} : timers_.earliest(); }
  int descriptor() const noexcept override;
  void close_descriptors() noexcept override;

  // ---- for the other files of this folder

  // The first call in every libuv callback: the clock of the turn is read once, after the wait.
  Now now_in_turn();
  uv_loop_s* raw() noexcept { return loop_.get(); }
  DirectReads& direct_reads() noexcept { return direct_reads_; }
  // The descriptors that a forked child must close.
  void track(int fd) { fds_.insert(fd); }
  void untrack(int fd) { fds_.erase(fd); }

 private:
  explicit UvLoop(SpinPolicy spin);
  std::string open();  // empty on success
  void run_deferred();
  void take_posted();
  void wait(Deadline until);
  bool spin(Deadline until);
  void sleep(Deadline until);
  void poll(bool sleep);

  SpinPolicy spin_;
  Yielding yielding_;
  IdleHook* hook_ = nullptr;
  Wait wait_by_ = Wait::sleep;
  // In a wait: something has happened, and now_ is its time. After a turn: something happened or
  // was done after the wait.
  bool busy_ = true;
  bool do_not_wait_ = false;  // in this turn
  unsigned spin_misses_ = 0;  // waits in a row that outlasted the budget
  std::unique_ptr<uv_loop_s> loop_;
  TimerHandle alarm_;  // ends the wait; fires no timer itself
  PollHandle waker_;
  int wake_fd_ = -1;
  Now now_;
  std::chrono::nanoseconds lateness_{0};
  TimerHeap timers_;
  std::vector<Deferred*> deferred_;
  std::atomic<bool> any_posted_ = false;
  sync::Mutex post_mutex_;
  std::vector<Deferred*> posted_ SHEAF_GUARDED_BY(post_mutex_);
  std::set<int> fds_;
  DirectReads direct_reads_;
};

// Resolves names (on libuv's pool threads, which do nothing else) and connects, with TCP_NODELAY
// and keep-alive. The loop must outlive the dialer.
std::unique_ptr<Dialer> make_tcp_dialer(UvLoop& loop);

}  // namespace sheaf::socket
