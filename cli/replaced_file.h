#pragma once

// A file that is replaced as a whole: who reads it meanwhile reads the old one or the new one.
//
// Thread rule: none but what the caller keeps: one writer of a path at a time.

#include <string>
#include <string_view>

#include "cli/exit_code.h"

namespace sheaf::cli {

// Links are followed, and the file that they lead to is replaced. `usage`: what is there is not a
// regular file and stays; `failed`: it cannot be written. Both with a sentence on standard error.
ExitCode replace_file(const std::string& path, std::string_view text);

}  // namespace sheaf::cli
