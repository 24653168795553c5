#include "base/this_thread.h"

namespace sheaf {

ThisThread& this_thread() noexcept {
  thread_local ThisThread mine;
  return mine;
}

}  // namespace sheaf
