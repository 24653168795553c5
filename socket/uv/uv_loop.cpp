#include "socket/uv/uv_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/read_clocks.h"

namespace sheaf::socket {
namespace {

// After more than this many waits in a row that outlasted the spin budget, only every 64th wait
// spins.
constexpr unsigned spin_patience = 4;

// While it reads connections directly, a loop that spins asks about the others this often.
constexpr std::chrono::microseconds longest_neglect{100};

// Keeps a loop permanently because a thread of libuv's pool still resolves a name and will touch
// it. The look-up can neither be cancelled nor waited for in bounded time.
void abandon(std::unique_ptr<uv_loop_t> loop) {
  struct Abandoned {
    sync::Mutex mutex;
    std::vector<std::unique_ptr<uv_loop_t>> loops SHEAF_GUARDED_BY(mutex);
  };
  static auto* const abandoned = new Abandoned;
  const sync::MutexLock lock(abandoned->mutex);
  abandoned->loops.push_back(std::move(loop));
}

}  // namespace

std::expected<std::unique_ptr<UvLoop>, std::string> UvLoop::create(SpinPolicy spin) {
  std::unique_ptr<UvLoop> loop(new UvLoop(spin));
  if (std::string error = loop->open(); !error.empty()) return std::unexpected(std::move(error));
  return loop;
}

UvLoop::UvLoop(SpinPolicy spin) : spin_(spin), yielding_(spin.enabled), now_(read_clocks()) {}

std::string UvLoop::open() {
  auto loop = std::make_unique<uv_loop_t>();
  if (const int error = uv_loop_init(loop.get()); error != 0) return uv_strerror(error);
  loop_ = std::move(loop);
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return uv_strerror(-errno);
  auto alarm = std::make_unique<uv_timer_t>();
  uv_timer_init(loop_.get(), alarm.get());
  alarm_.reset(alarm.release());
  waker_ = make_poll(loop_.get(), wake_fd_, this);
  uv_poll_start(waker_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
    auto& self = *static_cast<UvLoop*>(handle->data);
    self.now_in_turn();
    std::uint64_t count = 0;
    while (read(self.wake_fd_, &count, sizeof count) < 0 && errno == EINTR) {
    }
  });
  return {};
}

UvLoop::~UvLoop() {
  if (loop_ == nullptr) return;
  alarm_.reset();
  waker_.reset();
  for (int i = 0; i < 8 && uv_run(loop_.get(), UV_RUN_NOWAIT) != 0; ++i) {
  }
  if (wake_fd_ >= 0) close(wake_fd_);
  if (uv_loop_close(loop_.get()) != 0) abandon(std::move(loop_));
}

Now UvLoop::now_in_turn() {
  if (!std::exchange(busy_, true)) now_ = read_clocks();
  return now_;
}

void UvLoop::turn(Deadline until) {
  now_ = read_clocks();
  take_posted();
  run_deferred();
  // A turn that does not wait is not late.
  const Deadline expected = std::min(std::max(until, now_.mono), timers_.earliest());
  busy_ = false;
  wait(expected);
  do_not_wait_ = false;
  if (!busy_) now_ = read_clocks();
  lateness_ = std::max(now_.mono - expected, std::chrono::nanoseconds{0});
  const bool due = timers_.earliest() <= now_.mono;
  timers_.fire(now_);
  take_posted();
  // Only the next turn asks the kernel about what is done from here on.
  busy_ = busy_ || due || !deferred_.empty();
  run_deferred();
}

// Lets libuv report what has happened.
void UvLoop::poll(bool sleep) {
  direct_reads_.watch_all();
  uv_run(loop_.get(), sleep ? UV_RUN_ONCE : UV_RUN_NOWAIT);
}

void UvLoop::wait(Deadline until) {
  if (until <= now_.mono || do_not_wait_) {
    poll(false);
    return;
  }
  if (spin(until)) return;
  if (hook_ != nullptr && !hook_->may_sleep()) {
    poll(false);
    return;
  }
  sleep(until);
}

void UvLoop::sleep(Deadline until) {
  if (wait_by_ == Wait::read && direct_reads_.may_wait(now_.mono, descriptor()) &&
      direct_reads_.wait(until - now_.mono)) {
    if (!busy_) poll(false);
    return;
  }
  if (until != never) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now_.mono);
    uv_update_time(loop_.get());
    // libuv fires due timers before it polls, and would then sleep without one. So the alarm stops
    // the loop.
    const auto ring = [](uv_timer_t* alarm) { uv_stop(alarm->loop); };
    uv_timer_start(alarm_.get(), ring, static_cast<std::uint64_t>(left.count()), 0);
  }
  poll(true);
  uv_timer_stop(alarm_.get());
}

// Polls without sleeping, and yields the processor between tries. A reply that arrives within the
// budget then needs no wake-up, which would cost more than the request
// (docs/design/0010-spinning.md).
bool UvLoop::spin(Deadline until) {
  if (wait_by_ != Wait::spin || !yielding_.pays(now_.mono)) return false;
  if (spin_misses_ > spin_patience && ++spin_misses_ % 64 != 0) return false;
  const Deadline start = read_monotonic();
  for (Deadline now = start; now < std::min(until, start + spin_.budget);) {
    if (!direct_reads_.may_neglect_others(now) || !direct_reads_.try_read()) {
      direct_reads_.ask_about_all_by(now + longest_neglect);
      poll(false);
    }
    if (busy_ || (hook_ != nullptr && hook_->has_work())) {
      spin_misses_ = 0;
      return true;
    }
    now = yielding_.yield_at(now);
    if (!yielding_.pays(now)) break;
  }
  ++spin_misses_;
  return false;
}

void UvLoop::post(Deferred& work) noexcept {
  {
    const sync::MutexLock lock(post_mutex_);
    if (std::find(posted_.begin(), posted_.end(), &work) != posted_.end()) return;
    posted_.push_back(&work);
    any_posted_.store(true, std::memory_order_release);
  }
  wake();
}

void UvLoop::cancel(Deferred& work) noexcept {
  {
    const sync::MutexLock lock(post_mutex_);
    std::erase(posted_, &work);
  }
  forget(work);
}

void UvLoop::take_posted() {
  if (!any_posted_.load(std::memory_order_acquire)) return;
  std::vector<Deferred*> taken;
  {
    const sync::MutexLock lock(post_mutex_);
    taken.swap(posted_);
    any_posted_.store(false, std::memory_order_relaxed);
  }
  for (Deferred* work : taken) defer(*work);
}

void UvLoop::wake() noexcept {
  const std::uint64_t one = 1;
  while (write(wake_fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void UvLoop::defer(Deferred& work) {
  for (const Deferred* deferred : deferred_) {
    if (deferred == &work) return;
  }
  deferred_.push_back(&work);
}

void UvLoop::forget(Deferred& work) noexcept {
  std::replace(deferred_.begin(), deferred_.end(), &work, static_cast<Deferred*>(nullptr));
}

// Work that defers itself again runs in the same call; a bound keeps a bug from looping here
// forever.
void UvLoop::run_deferred() {
  for (std::size_t i = 0; i < deferred_.size() && i < 1'000'000; ++i) {
    Deferred* work = deferred_[i];
    deferred_[i] = nullptr;
    if (work != nullptr) work->run_deferred(now_);
  }
  deferred_.clear();
}

int UvLoop::descriptor() const noexcept { return uv_backend_fd(loop_.get()); }

void UvLoop::close_descriptors() noexcept {
  for (const int fd : fds_) close(fd);
  close(wake_fd_);
  close(uv_backend_fd(loop_.get()));
  close(loop_->async_io_watcher.fd);
  close(loop_->signal_pipefd[0]);
  close(loop_->signal_pipefd[1]);
}

}  // namespace sheaf::socket
