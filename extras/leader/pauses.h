#pragma once

// Pauses: does something later, on a thread of its own, which starts with the first pause.
//
// Thread rule: any thread. The destructor may run on the thread itself; no pause is left then,
// because what is done later keeps the owner alive.

#include <chrono>
#include <memory>
#include <stop_token>

#include <sheaf/move_only_function.h>

#include "base/fork_mark.h"
#include "base/quiet_thread.h"

namespace sheaf::leader {

class Pauses {
 public:
  using Job = MoveOnlyFunction<void()>;

  Pauses();
  ~Pauses();
  Pauses(const Pauses&) = delete;
  Pauses& operator=(const Pauses&) = delete;

  // Calls `job` once, when `time` has passed, or as soon as the token is asked to stop. May throw
  // std::system_error if the thread cannot start; the job is not called then.
  void after(std::chrono::nanoseconds time, const std::stop_token& stop, Job job);

 private:
  struct Pause;
  struct Core;

  const ForkMark process_;
  const std::shared_ptr<Core> core_;  // the thread shares it
  QuietThread thread_;                // guarded by the mutex of the core
};

}  // namespace sheaf::leader
