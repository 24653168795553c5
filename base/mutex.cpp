#include "base/mutex.h"

#include <algorithm>

#include "base/read_clocks.h"

namespace sheaf::sync {

void Mutex::lock() noexcept SHEAF_UNCHECKED { mutex_.lock(); }
void Mutex::unlock() noexcept SHEAF_UNCHECKED { mutex_.unlock(); }

void CondVar::wait(Mutex& mutex) noexcept {
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  condition_.wait(lock);
  lock.release();
}

bool CondVar::wait_until(Mutex& mutex, Deadline until) noexcept {
  // Waits a day at most, because a clock plus a very long time would overflow.
  constexpr std::chrono::hours longest{24};
  const Deadline now = read_monotonic();
  if (now >= until) return false;
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  condition_.wait_for(lock, std::min<std::chrono::nanoseconds>(until - now, longest));
  lock.release();
  return true;
}

void CondVar::notify_one() noexcept { condition_.notify_one(); }
void CondVar::notify_all() noexcept { condition_.notify_all(); }

}  // namespace sheaf::sync
