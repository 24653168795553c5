#pragma once

// The whole program except main(): reads the command line and runs the command.
//
// Thread rule: one thread.

#include <string>
#include <vector>

#include "cli/system/exit_code.h"
#include "cli/system/output.h"

namespace sheaf::cli {

// `words`: the arguments after the program's name. `in`: the descriptor of standard input. If
// output could not be written, every command ends with ExitCode::failed.
ExitCode run_program(const std::vector<std::string>& words, int in, Output& out);

}  // namespace sheaf::cli
