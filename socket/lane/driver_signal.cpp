#include "socket/lane/driver_signal.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/read_clocks.h"

namespace sheaf::socket {
namespace {

void add(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

timespec timespec_of(std::chrono::nanoseconds time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  timespec out{};
  out.tv_sec = static_cast<time_t>(seconds.count());
  out.tv_nsec = static_cast<long>((time - seconds).count());
  return out;
}

void close_all(std::initializer_list<int> descriptors) noexcept {
  for (const int fd : descriptors) {
    if (fd >= 0) ::close(fd);
  }
}

}  // namespace

WaitEnd::WaitEnd() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_.valid())
    throw std::system_error(errno, std::generic_category(),
                            "no descriptor to wake a waiting thread");
}

WaitEnd::~WaitEnd() = default;

void WaitEnd::end() noexcept { static_cast<void>(eventfd_write(event_.get(), 1)); }

// Uses the clock of read_clocks(), which keeps running while the machine is suspended.
DriverSignal::DriverSignal()
    : descriptor_(epoll_create1(EPOLL_CLOEXEC)),
      event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)),
      process_(::getpid()) {
  try {
    if (descriptor_ < 0 || event_ < 0 || timer_ < 0)
      throw std::system_error(errno, std::generic_category(), "no descriptor for a driver");
    add(descriptor_, event_);
    add(descriptor_, timer_);
  } catch (...) {
    close_all({descriptor_, event_, timer_});
    throw;
  }
}

DriverSignal::~DriverSignal() { close_all({descriptor_, event_, timer_}); }

void DriverSignal::watch(const DrivenLoop& loop) { add(descriptor_, loop.descriptor()); }

void DriverSignal::forget(const DrivenLoop& loop) noexcept {
  epoll_ctl(descriptor_, EPOLL_CTL_DEL, loop.descriptor(), nullptr);
}

void DriverSignal::notify() noexcept {
  if (!notified_.exchange(true)) static_cast<void>(eventfd_write(event_, 1));
}

// A notify() before notified_ is reset is seen by the thread that clears; a later one makes the
// descriptor readable again.
void DriverSignal::clear() noexcept {
  eventfd_t count = 0;
  static_cast<void>(eventfd_read(event_, &count));
  notified_.store(false);
  std::uint64_t rings = 0;
  static_cast<void>(::read(timer_, &rings, sizeof rings));
}

void DriverSignal::ring_at(Deadline due) noexcept {
  itimerspec at{};
  if (due != never) at.it_value = timespec_of(std::max(due, Deadline{1}));  // 0 would disarm it
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

bool DriverSignal::wait_until(Deadline until, const WaitEnd* end) noexcept {
  for (;;) {
    const Deadline left = until == never ? never : until - read_monotonic();
    timespec time{};
    if (left != never) {
      time = timespec_of(std::clamp<Deadline>(left, {}, std::chrono::hours(24)));
    }
    std::array<pollfd, 2> wanted{{{.fd = descriptor_, .events = POLLIN, .revents = 0},
                                  {.fd = -1, .events = POLLIN, .revents = 0}}};
    if (end != nullptr) wanted[1].fd = end->event_.get();
    const int ready =
        ::ppoll(wanted.data(), wanted.size(), left == never ? nullptr : &time, nullptr);
    if (ready > 0) return wanted[0].revents != 0;
    const bool over = until != never && read_monotonic() >= until;
    if (over || (ready < 0 && errno != EINTR)) return false;
  }
}

bool DriverSignal::forked() const noexcept { return ::getpid() != process_; }

}  // namespace sheaf::socket
