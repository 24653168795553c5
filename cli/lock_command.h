#pragma once

// lock: runs a program while a lock is held, and gets the program's exit code.
//
// Thread rule: one thread; PassedSignals is made before the client's threads are.

#include <signal.h>

#include "cli/commands.h"
#include "cli/dev/broker.h"

namespace sheaf::cli {

// Signals that are passed on to the program instead of ending this one; one at a time. SIGCHLD
// comes, too.
class PassedSignals {
 public:
  PassedSignals();
  ~PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  struct Signal {
    int number = 0;              // 0 = none
    bool from_terminal = false;  // the program got it as well
  };
  Signal take() const;
  int descriptor() const noexcept { return descriptor_.get(); }
  // The mask that the program is to start with.
  const sigset_t& before() const noexcept { return before_; }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

// Exit codes beside those of ExitCode: the program's own, 128 + n if signal n ended it, and these.
inline constexpr int lock_not_acquired = 75;
inline constexpr int lock_lost = 76;

ExitCode run_lock(Context& context, const PassedSignals& signals);

}  // namespace sheaf::cli
