// Pure: no socket, clock, entropy, thread or callback.

#include "store/durable/file_time.h"

#include <algorithm>

namespace sheaf::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A wall clock that was never set jumps by decades when it is set.
constexpr milliseconds longest_pause = std::chrono::hours(24 * 365 * 100);

nanoseconds passed_since(const FileTime::Mark& saved, Now now, std::string_view boot) noexcept {
  if (!boot.empty() && boot == saved.boot && now.mono >= saved.now.mono) {
    return now.mono - saved.now.mono;
  }
  return std::clamp(now.wall - saved.now.wall, milliseconds(0), longest_pause);
}

}  // namespace

FileTime::FileTime(const Mark& saved, Now now, std::string_view boot)
    : boot_(boot), offset_(saved.time + passed_since(saved, now, boot) - now.mono) {}

}  // namespace sheaf::store
