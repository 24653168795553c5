#pragma once

#include "socket/seam.h"

namespace sheaf::store::pipe {

// Posts work to the loop of another thread. One client's request may change a key that another
// client of the same engine watches; the other client's loop then has to read its notification.
//
// Thread rule: as each member says.
class Poster {
 public:
  virtual ~Poster() = default;
  // Any thread. The loop wakes up and runs the work in its next turn, as deferred work. Work that
  // is posted again before that runs once.
  virtual void post(socket::Deferred& work) noexcept = 0;
  // Under the loop's baton, after the last post(): the work will not run any more.
  virtual void cancel(socket::Deferred& work) noexcept = 0;
};

}  // namespace sheaf::store::pipe
