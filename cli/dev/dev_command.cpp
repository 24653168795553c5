#include "cli/dev/dev_command.h"

#include <poll.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/commands/child_program.h"
#include "cli/commands/commands.h"
#include "cli/dev/broker_group.h"
#include "cli/dev/resp_files.h"
#include "cli/show/json_lines.h"

namespace sheaf::cli {

namespace {

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

// The one line that callers wait for, and what a person wants to know beside it.
bool announce(const BrokerGroup& group, bool as_json, Output& out) {
  const std::string noun = group.plan().traits().noun;
  for (const BrokerAddress& broker : group.addresses()) {
    complain(noun + " " + broker.node + " runs as process " + std::to_string(broker.pid) + ".");
  }
  complain("data in " + group.folder().string() + "; Ctrl-C or SIGTERM ends the " + noun + "s.");
  const std::string all = noun + "s";
  out.line(as_json ? json_brokers(group.uri(), all.c_str(), group.addresses()) : group.uri());
  return out.flush();
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::expected<std::filesystem::path, std::string> find_server(const DevArguments& arguments) {
  const std::string path = variable("PATH");
  switch (arguments.kind) {
    case ServerKind::broker:
      break;
    case ServerKind::memcached:
      return find_memcached(path);
    case ServerKind::redis:
    case ServerKind::valkey:
    case ServerKind::garnet: {
      const ServerTraits& traits = traits_of(arguments.kind);
      return find_resp_server(traits, variable(traits.named_by), path);
    }
  }
  return find_mosquitto(arguments.mosquitto, path);
}

// The program to run, and for brokers the plugin.
std::expected<BrokerPlan, std::string> make_plan(const DevArguments& arguments) {
  BrokerPlan plan;
  plan.kind = arguments.kind;
  plan.verbose = arguments.verbose;
  plan.spelling = arguments.spelling;
  plan.port = arguments.port;
  auto program = find_server(arguments);
  if (!program) return std::unexpected(std::move(program.error()));
  std::error_code ignored;
  plan.program = std::filesystem::absolute(*program, ignored);
  if (arguments.kind != ServerKind::broker) return plan;
  auto plugin = find_plugin(arguments.plugin, program_folder());
  if (!plugin) return std::unexpected(std::move(plugin.error()));
  plan.plugin = std::move(*plugin);
  return plan;
}

// Runs CMD to its end; the servers end after it.
ExitCode run_program_on(BrokerGroup& group, const std::vector<std::string>& words,
                        const Signals& signals, bool json, Output& out) {
  const PassedSignals passed;
  ChildProgram program;
  if (const int error = program.start(words, "SHEAF_SERVERS=" + group.uri(), signals.before());
      error != 0) {
    return ChildProgram::not_started(words.front(), error, json, out);
  }
  for (;;) {
    if (const auto code = program.take_end()) return static_cast<ExitCode>(*code);
    pollfd wanted{.fd = passed.descriptor(), .events = POLLIN, .revents = 0};
    static_cast<void>(poll(&wanted, 1, -1));
    const PassedSignals::Signal signal = passed.take();
    if (signal.number == SIGCHLD) {
      group.report_ended();
    } else if (signal.number != 0 && !signal.from_terminal) {
      program.pass_on(signal.number);
    }
  }
}

}  // namespace

ExitCode run_dev(const DevArguments& arguments, bool json, Output& out) {
  const auto refuse = [&](const std::string& sentence) { return fail(sentence, json, out); };
  auto plan = make_plan(arguments);
  if (!plan) return refuse(plan.error());

  const Signals signals;
  auto folder = TemporaryFolder::make();
  if (!folder) return refuse(folder.error());
  BrokerGroup group(std::move(*plan), std::move(*folder), signals);
  const auto started = group.start(arguments.servers, arguments.replicas);
  if (!started) return refuse(started.error());
  if (*started == BrokerGroup::Start::interrupted) return ExitCode::done;
  if (!arguments.words.empty()) return run_program_on(group, arguments.words, signals, json, out);
  if (!announce(group, json, out)) return ExitCode::failed;
  return group.watch() ? ExitCode::done
                       : refuse("no " + std::string(group.plan().traits().noun) + " is left.");
}

}  // namespace sheaf::cli
