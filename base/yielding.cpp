#include "base/yielding.h"

#include "base/quiet_thread.h"
#include "base/read_clocks.h"

namespace sheaf {

bool Yielding::yield() noexcept {
  const Deadline now = read_monotonic();
  if (!pays(now)) return false;
  yield_at(now);
  return true;
}

Deadline Yielding::yield_at(Deadline now) noexcept {
  const bool watched = contention_.begin(now);
  const std::chrono::nanoseconds used = watched ? read_process_time() : Deadline{0};
  yield_processor();
  const Deadline ended = read_monotonic();
  if (watched) contention_.yielded(ended - now, read_process_time() - used);
  yielded(now, ended);
  return ended;
}

bool Yielding::others_compete(Deadline now) noexcept {
  if (contention_.due(now)) yield_at(now);
  return contention_.found();
}

}  // namespace sheaf
