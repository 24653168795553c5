#pragma once

// Which servers the program works with, and with which password: what the command line, the
// environment and the user's own file say of them.
//
// Thread rule: one thread.

#include <chrono>
#include <optional>
#include <string>

#include <sheaf/cluster_config.h>
#include <sheaf/result.h>

#include "cli/line/command_line.h"

namespace sheaf::cli {

// What the environment says; a variable that is empty is as good as none.
struct Environment {
  std::string servers;   // SHEAF_SERVERS
  std::string config;    // SHEAF_CONFIG
  std::string cluster;   // SHEAF_CLUSTER
  std::string password;  // SHEAF_PASSWORD
  std::string own_file;  // $XDG_CONFIG_HOME/sheaf.json or ~/.config/sheaf.json; empty: no home

  static Environment read();
};

// The first of --servers, --config, SHEAF_SERVERS, SHEAF_CONFIG and the user's own file that there
// is. Of a file the cluster that --cluster or SHEAF_CLUSTER names, its only one, or "default".
// Where a URI says where the servers are listed, they are looked up there, within the time-out.
Result<ClusterConfig> choose_servers(const GlobalArguments& global, const Environment& environment);

// The servers that a URI names, or those that are listed where it says, looked up by `timeout`.
Result<ClusterConfig> servers_of_uri(const std::string& uri, std::chrono::milliseconds timeout);

// Asks on the terminal, without an echo. The error is one sentence.
Result<std::string> ask_password();

}  // namespace sheaf::cli
