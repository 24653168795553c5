// dev: runs servers to develop with.

#include <poll.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "cli/commands/child_program.h"
#include "cli/commands/command.h"
#include "cli/dev/broker_group.h"
#include "cli/dev/resp_files.h"
#include "cli/line/dev_words.h"
#include "cli/show/json_lines.h"

namespace sheaf::cli {

namespace {

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

// Prints the one line that callers wait for, and notes for people.
bool announce(const BrokerGroup& group, bool as_json, Output& out) {
  const std::string noun = group.plan().traits().noun;
  for (const BrokerAddress& broker : group.addresses()) {
    complain(noun + " " + broker.node + " runs as process " + std::to_string(broker.pid) + ".");
  }
  complain("data in " + group.folder().string() + "; Ctrl-C or SIGTERM stops the " + noun + "s.");
  const std::string all = noun + "s";
  out.line(as_json ? json_brokers(group.uri(), all.c_str(), group.addresses()) : group.uri());
  return out.flush();
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::expected<std::filesystem::path, std::string> find_server(const DevWords& words) {
  const std::string path = variable("PATH");
  switch (words.kind) {
    case ServerKind::broker:
      break;
    case ServerKind::memcached:
      return find_memcached(path);
    case ServerKind::redis:
    case ServerKind::valkey:
    case ServerKind::garnet: {
      const ServerTraits& traits = traits_of(words.kind);
      return find_resp_server(traits, variable(traits.named_by), path);
    }
  }
  return find_mosquitto(words.mosquitto, path);
}

// The program to run, and for brokers the plugin.
std::expected<BrokerPlan, std::string> make_plan(const DevWords& words) {
  BrokerPlan plan;
  plan.kind = words.kind;
  plan.verbose = words.verbose;
  plan.spelling = words.spelling;
  plan.port = words.port;
  auto program = find_server(words);
  if (!program) return std::unexpected(std::move(program.error()));
  std::error_code ignored;
  plan.program = std::filesystem::absolute(*program, ignored);
  if (words.kind != ServerKind::broker) return plan;
  auto plugin = find_plugin(words.plugin, program_folder());
  if (!plugin) return std::unexpected(std::move(plugin.error()));
  plan.plugin = std::move(*plugin);
  return plan;
}

// Runs CMD until it ends; the servers end after it.
ExitCode run_program_on(const Call& call, BrokerGroup& group, const std::vector<std::string>& words,
                        const Signals& signals) {
  const PassedSignals passed;
  ChildProgram program;
  if (const int error = program.start(words, "SHEAF_SERVERS=" + group.uri(), signals.before());
      error != 0) {
    return ChildProgram::not_started(call, words.front(), error);
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

ExitCode run_dev(const Call& call, const DevWords& words) {
  auto plan = make_plan(words);
  if (!plan) return fail(call, plan.error());

  const Signals signals;
  auto folder = TemporaryFolder::make();
  if (!folder) return fail(call, folder.error());
  BrokerGroup group(std::move(*plan), std::move(*folder), signals);
  const auto started = group.start(words.servers, words.replicas);
  if (!started) return fail(call, started.error());
  if (*started == BrokerGroup::Start::interrupted) return ExitCode::done;
  if (!words.words.empty()) return run_program_on(call, group, words.words, signals);
  if (!announce(group, call.json(), call.out)) return ExitCode::failed;
  return group.watch() ? ExitCode::done
                       : fail(call, "no " + std::string(group.plan().traits().noun) + " is left.");
}

constexpr OptionRow dev_options[] = {
    {"--brokers", "N", "how many Mosquitto brokers, 1 to 64 (default 3)"},
    {"--memcached", "N", "how many memcached servers, 1 to 64"},
    {"--redis", "N", "a cluster of this many redis-servers"},
    {"--valkey", "N", "a cluster of this many valkey-servers"},
    {"--garnet", "N", "a cluster of this many garnet-servers"},
    {"--replicas", "R", "replicas of each server of the cluster (default 0)"},
    {"--port", "N", "port of the first server; the others get the next ones"},
    {"--spelling", "NAME", "how stores spell replies: sdk (default) or page",
     completes_words("sdk page")},
    {"--verbose", "", "the servers' log on standard error"},
    {"--mosquitto", "FILE", "the mosquitto program to run", completes_files},
    {"--plugin", "FILE", "the plugin, libsheaf_statestore.so", completes_files}};
constexpr std::string_view refused_by_dev[] = {"--servers",       "--config",       "--cluster",
                                               "--password-file", "--ask-password", "--timeout"};

}  // namespace

CommandRow dev_command() {
  return command<read_dev_words, run_dev>(
      {.name = "dev",
       .group = group::program,
       .arguments = "[-- CMD...]",
       .purpose = "run servers for development, until interrupted",
       .text = "Prints their URI when they answer. With CMD it runs that program with the URI in "
               "SHEAF_SERVERS, stops the servers when the program has ended, and exits with its "
               "exit code.",
       .examples = {"sheaf dev --brokers 2", "sheaf dev --redis 3 --replicas 1 -- make test"},
       .options = dev_options,
       .completion = completes_nothing,
       .refused = {refused_by_dev, "it starts its own servers"}});
}

}  // namespace sheaf::cli
