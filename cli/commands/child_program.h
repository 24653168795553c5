#pragma once

// A program that this one runs: the CMD of `lock` and `dev`.
//
// Thread rule: one thread; PassedSignals is made before the client's threads.

#include <signal.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.h"
#include "cli/system/blocked_signals.h"
#include "cli/system/exit_code.h"

namespace sheaf::cli {

// Signals passed on to the program instead of ending this one; one at a time. SIGCHLD, too.
class PassedSignals {
 public:
  PassedSignals();
  ~PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  // A signal from the terminal has reached the program, too.
  using Signal = BlockedSignals::Signal;
  Signal take() const { return blocked_.take(); }
  int descriptor() const noexcept { return blocked_.descriptor(); }
  // The mask that the program starts with.
  const sigset_t& before() const noexcept { return blocked_.before(); }

 private:
  BlockedSignals blocked_;
};

class ChildProgram {
 public:
  // Searches PATH. The program has our environment with `changes`: "NAME=VALUE" sets a variable, a
  // NAME alone removes it. Returns an error number if the program cannot be started.
  int start(const std::vector<std::string>& words, std::vector<std::string> changes,
            const sigset_t& mask);
  void pass_on(int signal) const { kill(pid_, signal); }
  // The exit code, once the program has ended: 128 + n if signal n ended it.
  std::optional<int> take_end();

  // Prints why start() returned this error, with `--json` to standard output, too. Returns the exit
  // code that shells use for it.
  static ExitCode not_started(const Call& call, std::string_view program, int error);

 private:
  pid_t pid_ = -1;
};

}  // namespace sheaf::cli
