#include "base/yielding.h"

#include "base/quiet_thread.h"
#include "base/read_clocks.h"

namespace sheaf {

bool Yielding::yield() noexcept {
  const Deadline began = read_monotonic();
  if (!pays(began)) return false;
  yield_processor();
  yielded(began, read_monotonic());
  return true;
}

}  // namespace sheaf
