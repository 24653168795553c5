// dev: runs servers to develop with.

#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/read_clocks.h"
#include "base/text.h"
#include "cli/commands/child_program.h"
#include "cli/commands/command.h"
#include "cli/dev/broker_group.h"
#include "cli/dev/pod_environment.h"
#include "cli/dev/pod_files.h"
#include "cli/dev/resp_files.h"
#include "cli/dev/rotation.h"
#include "cli/line/dev_words.h"
#include "cli/show/json_lines.h"
#include "cli/system/replaced_file.h"

namespace sheaf::cli {

namespace {

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

// What a program needs to find the servers, as ChildProgram takes it.
using Variables = std::vector<std::string>;

// With --tls or --token: the files of a pod, and their rotation.
class Pod {
 public:
  static std::expected<Pod, std::string> make(const DevWords& words,
                                              const std::filesystem::path& folder) {
    if (words.tls && !has_certificates) {
      return std::unexpected("--tls needs TLS, and this sheaf was built without it.");
    }
    if (folder.string().find('\n') != std::string::npos) {
      return std::unexpected("the path of the temporary folder, " + printable(folder.string()) +
                             ", has a line break, which mosquitto.conf cannot express.");
    }
    Pod pod({.tls = words.tls, .token = words.token, .period = words.rotate}, folder);
    if (auto done = pod.files_.write(rotation_step(0), wall_time()); !done) {
      return std::unexpected(std::move(done.error()));
    }
    return pod;
  }

  void put_into(BrokerPlan& plan) const {
    plan.login = files_.broker();
    plan.uri_options = pod_uri_options(files_.settings());
  }
  PodSettings settings() const { return files_.settings(); }

  // Takes the step that is due, and returns how long to wait for the next one.
  std::chrono::milliseconds turn(const BrokerGroup& group) {
    if (const auto step = rotation_.due(read_monotonic())) {
      const auto done = files_.write(*step, wall_time());
      if (!done) complain(done.error());
      if (!group.plan().login.certificate.empty()) group.reload();
    }
    return rotation_.pause(read_monotonic());
  }

 private:
  Pod(const PodFiles::Wishes& wishes, const std::filesystem::path& folder)
      : files_(wishes, folder), rotation_(wishes.period, read_monotonic()) {}

  static std::chrono::seconds wall_time() {
    return std::chrono::duration_cast<std::chrono::seconds>(read_clocks().wall);
  }

  PodFiles files_;
  Rotation rotation_;
};

// A file for shells: `. FOLDER/env`.
std::expected<void, std::string> write_environment(const std::filesystem::path& path,
                                                   const Variables& environment) {
  std::string text;
  for (const std::string& line : shell_lines(environment)) text.append(line).append(1, '\n');
  if (auto failure = replace_file(path.string(), text)) {
    return std::unexpected(std::move(failure->sentence));
  }
  return {};
}

// Prints the line that callers wait for, the environment of a pod, and notes for people.
bool announce(const BrokerGroup& group, const Variables& environment, bool as_json, Output& out) {
  const std::string noun = group.plan().traits().noun;
  for (const BrokerAddress& broker : group.addresses()) {
    complain(noun + " " + broker.node + " runs as process " + std::to_string(broker.pid) + ".");
  }
  if (!environment.empty()) {
    complain("`. " + (group.folder() / "env").string() + "` gives a shell the environment.");
  }
  complain("data in " + group.folder().string() + "; Ctrl-C or SIGTERM stops the " + noun + "s.");
  const std::string all = noun + "s";
  if (as_json) {
    out.line(json_brokers(group.uri(), all.c_str(), group.addresses(), environment));
    return out.flush();
  }
  out.line(group.uri());
  if (!environment.empty()) {
    for (const std::string& line : shell_lines(environment)) out.line(line);
  }
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

using Turn = std::function<std::chrono::milliseconds()>;

// Runs CMD until it ends; the servers end after it.
ExitCode run_program_on(const Call& call, BrokerGroup& group, const Turn& turn,
                        const std::vector<std::string>& words, Variables environment,
                        const Signals& signals) {
  const PassedSignals passed;
  ChildProgram program;
  if (const int error = program.start(words, std::move(environment), signals.before());
      error != 0) {
    return ChildProgram::not_started(call, words.front(), error);
  }
  for (;;) {
    if (const auto code = program.take_end()) return static_cast<ExitCode>(*code);
    pollfd wanted{.fd = passed.descriptor(), .events = POLLIN, .revents = 0};
    static_cast<void>(poll(&wanted, 1, static_cast<int>(turn().count())));
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
  std::optional<Pod> pod;
  if (words.tls || words.token) {
    auto made = Pod::make(words, folder->path());
    if (!made) return fail(call, made.error());
    pod = std::move(*made);
    pod->put_into(*plan);
  }
  BrokerGroup group(std::move(*plan), std::move(*folder), signals);
  const auto started = group.start(words.servers, words.replicas);
  if (!started) return fail(call, started.error());
  if (*started == BrokerGroup::Start::interrupted) return ExitCode::done;

  Variables environment = {"SHEAF_SERVERS=" + group.uri()};
  if (pod) {
    for (auto& each : pod_environment(pod->settings(), group.port())) {
      environment.push_back(std::move(each));
    }
    if (auto done = write_environment(group.folder() / "env", environment); !done) {
      return fail(call, done.error());
    }
  }
  const Turn turn = [&] { return pod ? pod->turn(group) : std::chrono::milliseconds(-1); };
  if (!words.words.empty()) {
    return run_program_on(call, group, turn, words.words, std::move(environment), signals);
  }
  if (!announce(group, pod ? environment : Variables{}, call.json(), call.out)) {
    return ExitCode::failed;
  }
  return group.watch(turn)
             ? ExitCode::done
             : fail(call, "no " + std::string(group.plan().traits().noun) + " is left.");
}

constexpr OptionRow dev_options[] = {
    {"--brokers", "N", "Mosquitto brokers, 1 to 64 (default 3, of a pod 1)"},
    {"--memcached", "N", "how many memcached servers, 1 to 64"},
    {"--redis", "N", "a cluster of this many redis-servers"},
    {"--valkey", "N", "a cluster of this many valkey-servers"},
    {"--garnet", "N", "a cluster of this many garnet-servers"},
    {"--replicas", "R", "replicas of each server of the cluster (default 0)"},
    {"--port", "N", "port of the first server; others get the next ones"},
    {"--tls", "", "the brokers of a pod: TLS, with a trust bundle"},
    {"--token", "", "the brokers of a pod: logins with a token, K8S-SAT"},
    {"--rotate", "SECONDS", "how often both are replaced; 0: never (default 60)"},
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
       .text =
           "Prints their URI when they answer. With CMD it runs that program with the URI in "
           "SHEAF_SERVERS, stops the servers when the program has ended, and exits with its "
           "exit code. With --tls and --token one broker has what a pod of Azure IoT Operations "
           "finds. Its environment follows the URI, and CMD has it.",
       .examples = {"sheaf dev --redis 3 --replicas 1 -- make test",
                    "sheaf dev --tls --token -- ./press7"},
       .options = dev_options,
       .completion = completes_nothing,
       .refused = {refused_by_dev, "it starts its own servers"}});
}

}  // namespace sheaf::cli
