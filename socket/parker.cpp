#include "socket/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace sheaf::socket {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* time) noexcept {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, time, nullptr, 0);
}

}  // namespace

bool Parker::wait(const std::chrono::nanoseconds* time) noexcept {
  timespec left{};
  if (time != nullptr) {
    left.tv_sec = static_cast<time_t>(time->count() / 1'000'000'000);
    left.tv_nsec = static_cast<long>(time->count() % 1'000'000'000);
  }
  while (permit_.exchange(0, std::memory_order_acquire) == 0) {
    const long result = futex(permit_, FUTEX_WAIT, 0, time != nullptr ? &left : nullptr);
    if (result != 0 && errno == ETIMEDOUT) {
      return permit_.exchange(0, std::memory_order_acquire) != 0;
    }
  }
  return true;
}

// The waiter may be gone as soon as the permit is set, so only its address is used afterwards.
void Parker::unpark() noexcept {
  if (permit_.exchange(1, std::memory_order_release) == 0) futex(permit_, FUTEX_WAKE, 1, nullptr);
}

}  // namespace sheaf::socket
