#pragma once

// The time line of a store's file. The monotonic clock starts again with each boot, so points in
// time are saved on this time line, which continues.
//
// Within one boot the monotonic clock says how much time has passed, whatever happened to the wall
// clock. Otherwise the wall clock is used. If it has stepped back, no time counts as passed: a
// lease may then end too late, but never becomes longer than it was.
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
    Deadline time{0};  // on this time line
    Now now;
    std::string boot;  // names the boot that `now.mono` counts from; may be empty

    friend bool operator==(const Mark& a, const Mark& b) noexcept {
      return a.time == b.time && a.now.mono == b.now.mono && a.now.wall == b.now.wall &&
             a.boot == b.boot;
    }
  };

  // Continues after `saved`, the last mark in the file; in a new file that is empty.
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
