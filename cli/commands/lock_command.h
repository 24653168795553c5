#pragma once

// lock: runs a program while a lock is held, and gets the program's exit code.
//
// Thread rule: one thread; PassedSignals is made before the client's threads are.

#include "cli/commands/child_program.h"
#include "cli/commands/commands.h"

namespace sheaf::cli {

// Exit codes beside those of ExitCode: the program's own, 128 + n if signal n ended it, and these.
inline constexpr int lock_not_acquired = 75;
inline constexpr int lock_lost = 76;

ExitCode run_lock(Context& context, const PassedSignals& signals);

}  // namespace sheaf::cli
