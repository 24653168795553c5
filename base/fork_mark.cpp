#include "base/fork_mark.h"

#include <pthread.h>

namespace sheaf {
namespace {

// Counts forks in the child: cheaper than asking for the process id at every call. The handler is
// registered when the program or the library is loaded. Otherwise a process could fork while
// another thread registers it.
constinit std::atomic<unsigned> fork_count = 0;
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++fork_count; });

}  // namespace

ForkMark::ForkMark() : generation_(fork_count) {}

bool ForkMark::forked() const noexcept { return generation_ != fork_count; }

}  // namespace sheaf
