#include "base/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace sheaf {
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
  std::uint32_t seen = empty;
  if (state_.compare_exchange_strong(seen, asleep, std::memory_order_relaxed)) {
    while (state_.load(std::memory_order_relaxed) == asleep) {
      const long result = futex(state_, FUTEX_WAIT, asleep, time != nullptr ? &left : nullptr);
      if (result != 0 && errno == ETIMEDOUT) break;
    }
  }
  return state_.exchange(empty, std::memory_order_acquire) == permit;
}

// The waiting thread may be gone as soon as the permit is set; after that only the address is used.
void Parker::unpark() noexcept {
  if (state_.exchange(permit, std::memory_order_release) == asleep) {
    futex(state_, FUTEX_WAKE, 1, nullptr);
  }
}

}  // namespace sheaf
