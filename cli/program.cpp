#include "cli/program.h"

#include <cstdlib>
#include <expected>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <sheaf/client.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/dev/dev_command.h"
#include "cli/lock_command.h"
#include "cli/password.h"

namespace sheaf::cli {

namespace {

using Clusters = std::vector<std::pair<std::string, ClusterConfig>>;

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

std::string names_of(const Clusters& clusters) {
  std::string names;
  for (const auto& [name, config] : clusters) {
    if (!names.empty()) names += ", ";
    names += in_quotes(name);
  }
  return names;
}

Failure bad_configuration(std::string text) {
  Error error;
  error.outcome = Outcome::invalid;
  error.reason = Reason::bad_configuration;
  error.text = std::move(text);
  return Failure(std::move(error));
}

Result<ClusterConfig> choose_cluster(const GlobalArguments& global) {
  if (!global.servers.empty()) return ClusterConfig::parse_uri(global.servers);
  auto clusters = ClusterConfig::load_file(global.config);
  if (!clusters) return Failure(std::move(clusters.error()));
  if (global.cluster.empty() && clusters->size() == 1) return std::move(clusters->front().second);
  for (auto& [name, config] : *clusters) {
    if (!global.cluster.empty() && name == global.cluster) return std::move(config);
  }
  return bad_configuration(global.cluster.empty()
                               ? "--cluster must say which cluster of the file is meant: " +
                                     names_of(*clusters)
                               : "the file has no cluster " + in_quotes(global.cluster) +
                                     ", only " + names_of(*clusters));
}

ExitCode run_on_servers(const Arguments& arguments, int in, Output& out) {
  auto config = choose_cluster(arguments.global);
  if (config) {
    auto wrong =
        give_password(*config, arguments.global.password_file, std::getenv(password_variable));
    if (wrong) return complain_about(bad_configuration(std::move(*wrong)).error);
  }
  // One command needs few nodes, locate and ring often none: connections are made when they are
  // needed.
  if (config && arguments.command != Command::nodes) config->pool_min = 0;
  if (config) config->timeout = arguments.global.timeout;  // also what a first connection may take
  // Before the client's threads are made, which leave the signals to this one.
  std::optional<Signals> signals;
  if (arguments.command == Command::watch) signals.emplace();
  std::optional<PassedSignals> passed;
  if (arguments.command == Command::lock) passed.emplace();
  auto client = config ? Client::open(std::move(*config)) : Failure(std::move(config.error()));
  if (!client) return complain_about(client.error());
  Context context{arguments, *client, in, out};
  switch (arguments.command) {
    case Command::get:
      return run_get(context);
    case Command::set:
      return run_set(context);
    case Command::del:
      return run_del(context);
    case Command::incr:
      return run_incr(context);
    case Command::touch:
      return run_touch(context);
    case Command::mget:
      return run_mget(context);
    case Command::mset:
      return run_mset(context);
    case Command::list:
      return run_list(context);
    case Command::lock:
      return run_lock(context, *passed);
    case Command::locate:
      return run_locate(context);
    case Command::ring:
      return run_ring(context);
    case Command::nodes:
      return run_nodes(context);
    case Command::stats:
      return run_stats(context);
    case Command::watch:
      return run_watch(context, *signals);
    case Command::exec:
      return run_exec(context);
    case Command::dev:
      break;
  }
  return ExitCode::usage;
}

ExitCode run_command(const std::vector<std::string>& words, int in, Output& out) {
  const auto arguments = parse_arguments(words);
  if (!arguments) {
    const EarlyExit& end = arguments.error();
    if (end.code == ExitCode::done) {
      out.write(end.text);
    } else {
      complain(end.text);
    }
    return end.code;
  }
  if (arguments->command == Command::dev) {
    return run_dev(arguments->dev, arguments->global.json, out);
  }
  return run_on_servers(*arguments, in, out);
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& words, int in, Output& out) {
  const ExitCode code = run_command(words, in, out);
  if (out.flush()) return code;
  complain("cannot write to standard output: " + std::generic_category().message(out.error()) +
           ".");
  return ExitCode::failed;
}

}  // namespace sheaf::cli
