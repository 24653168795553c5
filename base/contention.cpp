#include "base/contention.h"

#include "base/quiet_thread.h"
#include "base/read_clocks.h"

namespace sheaf {

bool Contention::probe(Deadline now) noexcept {
  Deadline due = next_.load(relaxed);
  const Deadline next = now + (found() ? interval_if_found : interval);
  if (now < due || !next_.compare_exchange_strong(due, next, relaxed)) return found();
  const std::chrono::nanoseconds used = read_process_time();
  const Deadline began = read_monotonic();
  yield_processor();
  const Deadline ended = read_monotonic();
  yielded(ended - began, read_process_time() - used);
  return found();
}

}  // namespace sheaf
