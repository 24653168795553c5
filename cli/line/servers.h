#pragma once

// Finds the servers and the password to use, from the command line, the environment and the user's
// own file.
//
// Thread rule: one thread.

#include <chrono>
#include <optional>
#include <string>

#include <sheaf/cluster_config.h>
#include <sheaf/result.h>

#include "cli/line/command_line.h"

namespace sheaf::cli {

// Variables of the environment; an empty one counts as unset.
struct Environment {
  std::string servers;   // SHEAF_SERVERS
  std::string config;    // SHEAF_CONFIG
  std::string cluster;   // SHEAF_CLUSTER
  std::string password;  // SHEAF_PASSWORD
  std::string own_file;  // $XDG_CONFIG_HOME/sheaf.json or ~/.config/sheaf.json; empty: no home
  std::string broker;    // the variable of Azure IoT Operations that names a broker

  static Environment read();
};

// The servers of a command.
struct ChosenServers {
  ClusterConfig config;
  std::string place;  // what named them, if not the command line: a variable or a file
};

// The first that exists of --servers, --config, SHEAF_SERVERS, SHEAF_CONFIG, the user's own file
// and the variables of Azure IoT Operations. From a file it takes the cluster that --cluster or
// SHEAF_CLUSTER names, the only one, or "default". If a URI says where the servers are listed, they
// are looked up there, within the time-out.
Result<ChosenServers> choose_servers(const GlobalArguments& global, const Environment& environment);

// The servers that a URI names, or those listed where it says, looked up within `timeout`.
Result<ClusterConfig> servers_of_uri(const std::string& uri, std::chrono::milliseconds timeout);

// Asks on the terminal, without an echo. An error is one sentence.
Result<std::string> ask_password();

}  // namespace sheaf::cli
