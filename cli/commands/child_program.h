#pragma once

// A program that this one runs: CMD of `lock` and of `dev`.
//
// Thread rule: one thread; PassedSignals is made before the client's threads are.

#include <signal.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.h"
#include "cli/system/blocked_signals.h"
#include "cli/system/exit_code.h"

namespace sheaf::cli {

// Signals that are passed on to the program instead of ending this one; one at a time. SIGCHLD
// comes, too.
class PassedSignals {
 public:
  PassedSignals();
  ~PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  // One from the terminal has come to the program as well.
  using Signal = BlockedSignals::Signal;
  Signal take() const { return blocked_.take(); }
  int descriptor() const noexcept { return blocked_.descriptor(); }
  // The mask that the program is to start with.
  const sigset_t& before() const noexcept { return blocked_.before(); }

 private:
  BlockedSignals blocked_;
};

class ChildProgram {
 public:
  // Looked for in PATH; `variable` is "NAME=VALUE" in its environment. An error number if it cannot
  // be started.
  int start(const std::vector<std::string>& words, std::string variable, const sigset_t& mask);
  void pass_on(int signal) const { kill(pid_, signal); }
  // Its exit code, once it has ended: 128 + n if signal n ended it.
  std::optional<int> take_end();

  // Says why start() gave this error, in `--json` mode to standard output, too. Returns the exit
  // code that shells have for it.
  static ExitCode not_started(const Call& call, std::string_view program, int error);

 private:
  pid_t pid_ = -1;
};

}  // namespace sheaf::cli
