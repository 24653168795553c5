#pragma once

// How one thread gets another's loop to run something: an engine that several clients of a process
// share may have something to say to any of them.

#include "socket/seam.h"

namespace sheaf::store::pipe {

class Summoner {
 public:
  virtual ~Summoner() = default;
  // Any thread: the loop wakes and runs the work in its next turn, as deferred work. Once, even if
  // asked again before that.
  virtual void summon(socket::Deferred& work) noexcept = 0;
  // Under the loop's baton, and when nobody can summon the work any more: it will not be run.
  virtual void dismiss(socket::Deferred& work) noexcept = 0;
};

}  // namespace sheaf::store::pipe
