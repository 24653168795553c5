#include "cli/dev/dev_command.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/dev/broker_group.h"
#include "cli/json_lines.h"

namespace sheaf::cli {

namespace {

ExitCode refuse(const std::string& sentence) {
  complain(sentence);
  return ExitCode::failed;
}

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

// The one line that callers wait for, and what a person wants to know beside it.
bool announce(const BrokerGroup& group, bool as_json, Output& out) {
  for (const BrokerAddress& broker : group.addresses()) {
    complain("broker " + broker.node + " runs as process " + std::to_string(broker.pid) + ".");
  }
  complain("data in " + group.folder().string() + "; Ctrl-C or SIGTERM ends the brokers.");
  out.line(as_json ? json_brokers(group.uri(), group.addresses()) : group.uri());
  return out.flush();
}

}  // namespace

ExitCode run_dev(const DevArguments& arguments, bool json, Output& out) {
  const char* const path = std::getenv("PATH");
  auto mosquitto = find_mosquitto(arguments.mosquitto, path == nullptr ? "" : path);
  if (!mosquitto) return refuse(mosquitto.error());
  auto plugin = find_plugin(arguments.plugin, program_folder());
  if (!plugin) return refuse(plugin.error());

  const Signals signals;
  auto folder = TemporaryFolder::make();
  if (!folder) return refuse(folder.error());
  BrokerGroup group({.mosquitto = std::move(*mosquitto),
                     .plugin = std::move(*plugin),
                     .spelling = arguments.spelling,
                     .verbose = arguments.verbose},
                    std::move(*folder), signals);
  const auto started = group.start(arguments.brokers);
  if (!started) return refuse(started.error());
  if (*started == BrokerGroup::Start::interrupted) return ExitCode::done;
  if (!announce(group, json, out)) return ExitCode::failed;
  return group.watch() ? ExitCode::done : refuse("no broker is left.");
}

}  // namespace sheaf::cli
