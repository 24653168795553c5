#include "socket/uv/uv_loop.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/read_clocks.h"
#include "socket/uv/uv_impl.h"

namespace sheaf::socket {
namespace {

// After this many waits in a row that outlasted the spin budget, spin only every 64th wait.
constexpr unsigned spin_patience = 4;

}  // namespace

std::string UvLoop::Impl::open() {
  if (const int error = uv_loop_init(&loop_); error != 0) return uv_strerror(error);
  open_ = true;
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return uv_strerror(-errno);
  alarm_ = new uv_timer_t;
  uv_timer_init(&loop_, alarm_);
  waker_ = new uv_poll_t;
  uv_poll_init(&loop_, waker_, wake_fd_);
  waker_->data = this;
  uv_poll_start(waker_, UV_READABLE, [](uv_poll_t* handle, int, int) {
    auto& self = *static_cast<Impl*>(handle->data);
    self.now_in_turn();
    std::uint64_t count = 0;
    while (read(self.wake_fd_, &count, sizeof count) < 0 && errno == EINTR) {
    }
  });
  now_ = read_clocks();
  return {};
}

// True when nothing of libuv's refers to this object any more. A look-up that libuv's pool is still
// working on can neither be cancelled nor waited for in bounded time.
bool UvLoop::Impl::shut() {
  if (!open_) return true;
  if (alarm_ != nullptr) close_and_delete(alarm_);
  if (waker_ != nullptr) close_and_delete(waker_);
  alarm_ = nullptr;
  waker_ = nullptr;
  for (int i = 0; i < 8 && uv_run(&loop_, UV_RUN_NOWAIT) != 0; ++i) {
  }
  if (wake_fd_ >= 0) close(wake_fd_);
  wake_fd_ = -1;
  return uv_loop_close(&loop_) == 0;
}

Now UvLoop::Impl::now_in_turn() {
  events_ = true;
  if (!clock_read_) {
    clock_read_ = true;
    now_ = read_clocks();
  }
  return now_;
}

void UvLoop::Impl::turn(Deadline until) {
  now_ = read_clocks();
  take_posted();
  run_deferred();
  const Deadline expected = std::min(until, timers_.earliest());
  clock_read_ = false;
  events_ = false;
  wait(expected);
  do_not_wait_ = false;
  if (!clock_read_) now_ = read_clocks();
  clock_read_ = true;
  lateness_ = std::max(now_.mono - expected, std::chrono::nanoseconds{0});
  timers_.fire(now_);
  take_posted();
  run_deferred();
}

// Looks for all that may have happened.
void UvLoop::Impl::poll(uv_run_mode mode) {
  if (unwatched_ != nullptr) std::exchange(unwatched_, nullptr)->watch();
  uv_run(&loop_, mode);
}

void UvLoop::Impl::wait(Deadline until) {
  const Deadline start = now_.mono;
  if (until <= start || do_not_wait_) {
    poll(UV_RUN_NOWAIT);
    return;
  }
  if (spin(until)) return;
  if (hook_ != nullptr && !hook_->may_sleep()) {
    poll(UV_RUN_NOWAIT);
    return;
  }
  if (wait_in_read(until)) return;
  if (until != never) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - start);
    uv_update_time(&loop_);
    // libuv runs due timers before it polls, and would then sleep without one: the alarm forbids.
    const auto ring = [](uv_timer_t* alarm) { uv_stop(alarm->loop); };
    uv_timer_start(alarm_, ring, static_cast<std::uint64_t>(left.count()), 0);
  }
  poll(UV_RUN_ONCE);
  uv_timer_stop(alarm_);
}

// Polls without sleeping, giving the processor away between tries: a reply that comes within the
// budget is had without a wake, which costs more than the request (docs/performance.md).
bool UvLoop::Impl::spin(Deadline until) {
  if (!spin_.enabled || wait_by_ != Wait::spin) return false;
  if (spin_misses_ > spin_patience && ++spin_misses_ % 64 != 0) return false;
  const Deadline end = std::min(until, read_monotonic() + spin_.budget);
  do {
    Readable* const only = only_connection();
    if (only == nullptr || !only->try_read(false)) poll(UV_RUN_NOWAIT);
    if (events_ || (hook_ != nullptr && hook_->has_work())) {
      spin_misses_ = 0;
      return true;
    }
    sched_yield();
  } while (read_monotonic() < end);
  ++spin_misses_;
  return false;
}

// True if it has waited there.
bool UvLoop::Impl::wait_in_read(Deadline until) {
  // The kernel counts in its ticks and may be late.
  if (wait_by_ != Wait::read || until - now_.mono < 2 * longest_read) return false;
  Readable* const only = only_connection();
  if (only == nullptr || !only->try_read(true)) return false;
  if (!events_) poll(UV_RUN_NOWAIT);
  return true;
}

// Null if there are others, or one is on the way: they must not wait for this one.
Readable* UvLoop::Impl::only_connection() const {
  return connections_.size() == 1 && dials_ == 0 ? connections_.front() : nullptr;
}

void UvLoop::Impl::post(Deferred& work) noexcept {
  {
    const std::scoped_lock lock(post_mutex_);
    if (std::find(posted_.begin(), posted_.end(), &work) != posted_.end()) return;
    posted_.push_back(&work);
    any_posted_.store(true, std::memory_order_release);
  }
  wake();
}

void UvLoop::Impl::cancel(Deferred& work) noexcept {
  {
    const std::scoped_lock lock(post_mutex_);
    std::erase(posted_, &work);
  }
  forget(work);
}

void UvLoop::Impl::take_posted() {
  if (!any_posted_.load(std::memory_order_acquire)) return;
  std::vector<Deferred*> taken;
  {
    const std::scoped_lock lock(post_mutex_);
    taken.swap(posted_);
    any_posted_.store(false, std::memory_order_relaxed);
  }
  for (Deferred* work : taken) defer(*work);
}

void UvLoop::Impl::wake() noexcept {
  const std::uint64_t one = 1;
  while (write(wake_fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void UvLoop::Impl::defer(Deferred& work) {
  if (std::find(deferred_.begin(), deferred_.end(), &work) == deferred_.end()) {
    deferred_.push_back(&work);
  }
}

void UvLoop::Impl::forget(Deferred& work) noexcept {
  std::replace(deferred_.begin(), deferred_.end(), &work, static_cast<Deferred*>(nullptr));
}

// Work put off by the work itself is done in the same call; a bound keeps a bug from spinning here.
void UvLoop::Impl::run_deferred() {
  for (std::size_t i = 0; i < deferred_.size() && i < 1'000'000; ++i) {
    Deferred* work = deferred_[i];
    deferred_[i] = nullptr;
    if (work != nullptr) work->run_deferred(now_);
  }
  deferred_.clear();
}

void UvLoop::Impl::close_descriptors() noexcept {
  for (const int fd : fds_) close(fd);
  close(wake_fd_);
  close(uv_backend_fd(&loop_));
  close(loop_.async_io_watcher.fd);
  close(loop_.signal_pipefd[0]);
  close(loop_.signal_pipefd[1]);
}

std::expected<std::unique_ptr<UvLoop>, std::string> UvLoop::create(SpinPolicy spin) {
  auto impl = std::make_unique<Impl>(spin);
  if (std::string error = impl->open(); !error.empty()) return std::unexpected(std::move(error));
  return std::unique_ptr<UvLoop>(new UvLoop(std::move(impl)));
}

UvLoop::UvLoop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

UvLoop::~UvLoop() {
  if (impl_->shut()) return;
  // A name is still being looked up by another thread, which will touch the loop: it stays.
  static std::mutex mutex;
  static auto* const abandoned = new std::vector<std::unique_ptr<Impl>>;
  const std::scoped_lock lock(mutex);
  abandoned->push_back(std::move(impl_));
}

Now UvLoop::now() const { return impl_->now(); }
void UvLoop::turn(Deadline until) { impl_->turn(until); }
void UvLoop::wake() noexcept { impl_->wake(); }
std::unique_ptr<Timer> UvLoop::timer(TimerSink& sink) { return impl_->timers().make(sink); }
void UvLoop::defer(Deferred& work) { impl_->defer(work); }
void UvLoop::forget(Deferred& work) noexcept { impl_->forget(work); }
std::chrono::nanoseconds UvLoop::lateness() const { return impl_->lateness(); }
Now UvLoop::refresh() noexcept { return impl_->refresh(); }
void UvLoop::do_not_wait() noexcept { impl_->do_not_wait(); }
void UvLoop::post(Deferred& work) noexcept { impl_->post(work); }
void UvLoop::cancel(Deferred& work) noexcept { impl_->cancel(work); }
bool UvLoop::spins() const noexcept { return impl_->spins(); }
void UvLoop::wait_by(Wait wait) noexcept { impl_->wait_by(wait); }
void UvLoop::set_idle_hook(IdleHook* hook) noexcept { impl_->set_idle_hook(hook); }
void UvLoop::close_descriptors() noexcept { impl_->close_descriptors(); }

}  // namespace sheaf::socket
