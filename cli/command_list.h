#pragma once

// The list of all commands.
//
// Thread rule: constants.

#include "cli/line/command_row.h"

namespace sheaf::cli {

CommandTable command_list();

}  // namespace sheaf::cli
