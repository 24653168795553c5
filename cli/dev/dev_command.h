#pragma once

// `sheaf dev`: real Mosquitto brokers with the state store, memcached servers, or a cluster of
// Redis, Valkey or Garnet, on free ports, until interrupted.
//
// Thread rule: the program's main thread, and no other thread may exist when it is called.

#include "cli/line/arguments.h"
#include "cli/system/exit_code.h"
#include "cli/system/output.h"

namespace sheaf::cli {

// Prints the servers' URI alone on one line when all of them answer; everything else goes to
// standard error. Ends on SIGINT, SIGTERM and SIGHUP; no process and no file remains then.
ExitCode run_dev(const DevArguments& arguments, bool json, Output& out);

}  // namespace sheaf::cli
