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
  const std::string noun = group.plan().noun();
  for (const BrokerAddress& broker : group.addresses()) {
    complain(noun + " " + broker.node + " runs as process " + std::to_string(broker.pid) + ".");
  }
  complain("data in " + group.folder().string() + "; Ctrl-C or SIGTERM ends the " + noun + "s.");
  const std::string all = noun + "s";
  out.line(as_json ? json_brokers(group.uri(), all.c_str(), group.addresses()) : group.uri());
  return out.flush();
}

// The program to run, and for brokers the plugin.
std::expected<BrokerPlan, std::string> make_plan(const DevArguments& arguments) {
  const char* const variable = std::getenv("PATH");
  const std::string_view path = variable == nullptr ? "" : variable;
  BrokerPlan plan;
  plan.memcached = arguments.memcached;
  plan.verbose = arguments.verbose;
  plan.spelling = arguments.spelling;
  auto program =
      arguments.memcached ? find_memcached(path) : find_mosquitto(arguments.mosquitto, path);
  if (!program) return std::unexpected(std::move(program.error()));
  plan.program = std::move(*program);
  if (arguments.memcached) return plan;
  auto plugin = find_plugin(arguments.plugin, program_folder());
  if (!plugin) return std::unexpected(std::move(plugin.error()));
  plan.plugin = std::move(*plugin);
  return plan;
}

}  // namespace

ExitCode run_dev(const DevArguments& arguments, bool json, Output& out) {
  auto plan = make_plan(arguments);
  if (!plan) return refuse(plan.error());

  const Signals signals;
  auto folder = TemporaryFolder::make();
  if (!folder) return refuse(folder.error());
  BrokerGroup group(std::move(*plan), std::move(*folder), signals);
  const auto started = group.start(arguments.servers);
  if (!started) return refuse(started.error());
  if (*started == BrokerGroup::Start::interrupted) return ExitCode::done;
  if (!announce(group, json, out)) return ExitCode::failed;
  return group.watch() ? ExitCode::done
                       : refuse("no " + std::string(group.plan().noun()) + " is left.");
}

}  // namespace sheaf::cli
