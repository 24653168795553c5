#include "client/runtime/fork_mark.h"

#include <pthread.h>

#include <atomic>

namespace sheaf::client::runtime {
namespace {

// Counts forks in the child: cheaper than asking for the process id at every call.
std::atomic<unsigned>& fork_count() noexcept {
  static std::atomic<unsigned> count = 0;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++fork_count(); });
  static_cast<void>(registered);
  return count;
}

}  // namespace

ForkMark::ForkMark() : generation_(fork_count()) {}

bool ForkMark::forked() const noexcept { return generation_ != fork_count(); }

}  // namespace sheaf::client::runtime
