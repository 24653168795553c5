#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <sheaf/client.h>

#include "base/local_error.h"
#include "cli/commands/commands.h"
#include "cli/commands/lock_command.h"
#include "cli/dev/dev_command.h"
#include "cli/line/arguments.h"
#include "cli/line/password.h"
#include "cli/line/servers.h"
#include "protocol/statestore/clock.h"

namespace sheaf::cli {

namespace {

Result<ClusterConfig> configure(const GlobalArguments& global) {
  Environment environment = Environment::read();
  if (global.ask_password) {
    auto password = ask_password();
    if (!password) return Failure(std::move(password.error()));
    environment.password = std::move(*password);
  }
  return choose_servers(global, environment).and_then([&](ClusterConfig&& config) {
    return give_password(std::move(config), global.password_file, environment.password);
  });
}

// Servers that know no fencing tokens refuse all of them.
std::optional<Error> check_fence(const Client& client, const FencingToken& fence) {
  if (fence.text.empty() || !client.supports(Feature::fencing)) return std::nullopt;
  if (protocol::statestore::parse_timestamp(fence.text)) return std::nullopt;
  return local_error(Outcome::invalid, Reason::bad_argument,
                     "--fence is not a fencing token, the version of a lock's first set");
}

ExitCode run_on_servers(const Arguments& arguments, int in, Output& out) {
  auto config = configure(arguments.global);
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
  if (!client) return complain_about(client.error(), arguments.global.json, out);
  if (auto wrong = check_fence(*client, arguments.fence)) {
    return complain_about(*wrong, arguments.global.json, out);
  }
  Context context{arguments, *client, in, out};
  switch (arguments.command) {
    case Command::get:
      return run_get(context);
    case Command::set:
      return run_set(context);
    case Command::del:
      return run_del(context);
    case Command::exists:
      return run_exists(context);
    case Command::append:
    case Command::prepend:
      return run_edit(context);
    case Command::getset:
      return run_getset(context);
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
    case Command::top:
      return run_top(context);
    case Command::bench:
      return run_bench(context);
    case Command::migrate:
    case Command::dev:
    case Command::help:
    case Command::completion:
    case Command::man:
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
      const bool json = std::ranges::find(words, "--json") != words.end();
      return complain_about(local_error(Outcome::invalid, Reason::bad_argument, end.text), json,
                            out);
    }
    return end.code;
  }
  if (arguments->command == Command::dev) {
    return run_dev(arguments->dev, arguments->global.json, out);
  }
  if (arguments->command == Command::migrate) return run_migrate(*arguments, out);
  if (!arguments->ring_diff.empty()) return run_ring_diff(*arguments, out);
  return run_on_servers(*arguments, in, out);
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& words, int in, Output& out) {
  const ExitCode code = run_command(words, in, out);
  if (out.flush()) return code;
  // Whoever reads has seen enough, as `head` does: no reason to complain.
  if (out.error() == EPIPE) return ExitCode::closed_pipe;
  complain("cannot write to standard output: " + std::generic_category().message(out.error()) +
           ".");
  return ExitCode::failed;
}

}  // namespace sheaf::cli
