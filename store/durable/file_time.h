#pragma once

// The time line of a store's file. The monotonic clock begins anew with each start of the machine,
// so what is to happen at a moment of it is saved as a moment of this line, which goes on.
//
// Between two starts in the life of one machine the monotonic clock tells how much time has passed,
// whatever happened to the wall clock. Otherwise the wall clock must do; if it has stepped back,
// then no time counts as passed, so that a lease may end too late but never becomes longer than it
// was.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <string_view>

#include "base/clock.h"

namespace sheaf::store {

class FileTime {
 public:
  // One moment on three clocks.
  struct Mark {
    Deadline time{0};  // of this line
    Now now;
    std::string boot;  // names the start of the machine that `now.mono` counts from; may be empty

    friend bool operator==(const Mark& a, const Mark& b) noexcept {
      return a.time == b.time && a.now.mono == b.now.mono && a.now.wall == b.now.wall &&
             a.boot == b.boot;
    }
  };

  // Goes on after `saved`, the last mark in the file; a new file has an empty one.
  FileTime(const Mark& saved, Now now, std::string_view boot);

  Deadline to_file(Deadline mono) const noexcept { return mono == never ? never : mono + offset_; }
  Deadline from_file(Deadline time) const noexcept {
    return time == never ? never : time - offset_;
  }
  Mark mark(Now now) const { return {to_file(now.mono), now, boot_}; }

 private:
  std::string boot_;
  std::chrono::nanoseconds offset_;
};

}  // namespace sheaf::store
