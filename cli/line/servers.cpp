#include "cli/line/servers.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#ifdef SHEAF_HAS_DISCOVERY
#include <sheaf/discovery.h>
#endif

#include "base/descriptor.h"
#include "base/local_error.h"
#include "cli/line/password.h"
#include "cli/system/blocked_signals.h"
#include "cluster/config/config_environment.h"
#include "cluster/config/config_options.h"

namespace sheaf::cli {

namespace {

using NamedClusters = std::vector<std::pair<std::string, ClusterConfig>>;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Failure bad_configuration(std::string text) {
  return Failure(local_error(Outcome::invalid, Reason::bad_configuration, std::move(text)));
}

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

std::string names_of(const NamedClusters& clusters) {
  std::string names;
  for (const auto& [name, config] : clusters) {
    if (!names.empty()) names += ", ";
    names += in_quotes(name);
  }
  return names;
}

Result<ClusterConfig> of_file(const std::string& path, const std::string& cluster) {
  auto clusters = ClusterConfig::load_file(path);
  if (!clusters) return Failure(std::move(clusters.error()));
  if (cluster.empty() && clusters->size() == 1) return std::move(clusters->front().second);
  const std::string wanted = cluster.empty() ? "default" : cluster;
  for (auto& [name, config] : *clusters) {
    if (name == wanted) return std::move(config);
  }
  return bad_configuration(cluster.empty()
                               ? path +
                                     " has several clusters, and none is named \"default\": choose "
                                     "one with --cluster NAME or SHEAF_CLUSTER from " +
                                     names_of(*clusters)
                               : path + " has no cluster " + in_quotes(wanted) + ", only " +
                                     names_of(*clusters));
}

}  // namespace

Environment Environment::read() {
  Environment out;
  out.servers = variable("SHEAF_SERVERS");
  out.config = variable("SHEAF_CONFIG");
  out.cluster = variable("SHEAF_CLUSTER");
  out.password = variable(password_variable);
  const std::string folder = variable("XDG_CONFIG_HOME");
  const std::string home = variable("HOME");
  if (!folder.empty()) {
    out.own_file = folder + "/sheaf.json";
  } else if (!home.empty()) {
    out.own_file = home + "/.config/sheaf.json";
  }
  for (const std::string_view name : cluster::broker_variables) {
    if (out.broker.empty() && !variable(std::string(name).c_str()).empty()) out.broker = name;
  }
  return out;
}

// However a look-up ends, nothing of a command has been sent.
#ifdef SHEAF_HAS_DISCOVERY
Result<ClusterConfig> servers_of_uri(const std::string& uri, std::chrono::milliseconds timeout) {
  // ClusterConfig knows what to do instead of asking a Sentinel.
  const bool sentinel = uri.substr(0, uri.find("://")).contains("sentinel");
  if (sentinel || !ServerSource::is_source(uri)) return ClusterConfig::parse_uri(uri);
  const auto source = ServerSource::parse_uri(uri);
  if (!source) return Failure(source.error());
  return find_servers(*source, {.timeout = timeout}).transform_error([](Error error) {
    if (error.outcome == Outcome::unknown) error.outcome = Outcome::not_sent;
    return error;
  });
}
#else
Result<ClusterConfig> servers_of_uri(const std::string& uri, std::chrono::milliseconds) {
  return ClusterConfig::parse_uri(uri);
}
#endif

// The environment is that of the program that this pod is for. With the same client ID, we would
// end its connection, and with another ID that is always the same, that of a second `sheaf`.
Result<ClusterConfig> servers_of_environment() {
  return ClusterConfig::from_environment().transform([](ClusterConfig&& config) {
    const std::string id = std::exchange(config.client_id_exact, {});
    if (id.empty()) return std::move(config);
    config.client_id = id + "-cli";
    if (!cluster::is_name(config.client_id)) config.client_id = id;  // it is too long
    return std::move(config);
  });
}

Result<ChosenServers> choose_servers(const GlobalArguments& global,
                                     const Environment& environment) {
  const std::string& cluster = global.cluster.empty() ? environment.cluster : global.cluster;
  const auto from = [](std::string place, Result<ClusterConfig>&& config) {
    return std::move(config).transform(
        [&](ClusterConfig&& chosen) { return ChosenServers{std::move(chosen), std::move(place)}; });
  };
  if (!global.servers.empty()) return from("", servers_of_uri(global.servers, global.timeout));
  if (!global.config.empty()) return from("", of_file(global.config, cluster));
  // Naming a cluster implies a file.
  if (!environment.servers.empty() && global.cluster.empty())
    return from("SHEAF_SERVERS", servers_of_uri(environment.servers, global.timeout));
  if (!environment.config.empty())
    return from("SHEAF_CONFIG", of_file(environment.config, cluster));
  std::error_code ignored;
  if (!environment.own_file.empty() && std::filesystem::exists(environment.own_file, ignored))
    return from(environment.own_file, of_file(environment.own_file, cluster));
  if (!environment.broker.empty() && global.cluster.empty())
    return from(environment.broker, servers_of_environment());
  const std::string own =
      environment.own_file.empty() ? "~/.config/sheaf.json" : environment.own_file;
  if (!global.cluster.empty()) {
    return bad_configuration(
        "--cluster needs a configuration file, but there is none: name it with --config FILE or "
        "SHEAF_CONFIG, or write the file " +
        own);
  }
  return bad_configuration(
      "no servers are named: use --servers URI or --config FILE, SHEAF_SERVERS or SHEAF_CONFIG, "
      "the file " +
      own + ", or AIO_BROKER_HOSTNAME");
}

namespace {

// During its lifetime, signals that would end the program are blocked, and wait() reports them.
// Signals that the caller had ignored stay ignored.
class EndingSignals {
 public:
  EndingSignals() : blocked_({}, numbers) {}

  // Waits until `terminal` is readable (0) or a signal arrives (its number).
  int wait(int terminal) const {
    pollfd wanted[] = {{.fd = terminal, .events = POLLIN, .revents = 0},
                       {.fd = blocked_.descriptor(), .events = POLLIN, .revents = 0}};
    while (poll(wanted, 2, -1) == -1 && errno == EINTR) {
    }
    return wanted[1].revents == 0 ? 0 : blocked_.take().number;
  }

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  BlockedSignals blocked_;
};

// Reads a line from the terminal without an echo. `signal`: the one that ended the wait, or 0.
std::string read_silently(int terminal, const termios& before, int& signal) {
  const EndingSignals signals;
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  silent.c_cc[VSUSP] = _POSIX_VDISABLE;  // Ctrl-Z would leave the shell a silent terminal
  tcsetattr(terminal, TCSAFLUSH, &silent);
  constexpr std::string_view question = "Password: ";
  std::string line;
  bool more = ::write(terminal, question.data(), question.size()) >= 0;
  while (more) {
    char c = 0;
    signal = signals.wait(terminal);
    more = signal == 0 && ::read(terminal, &c, 1) == 1 && c != '\n';
    if (more) line += c;
  }
  if (::write(terminal, "\n", 1) != 1) line.clear();
  tcsetattr(terminal, TCSAFLUSH, &before);
  return line;
}

}  // namespace

Result<std::string> ask_password() {
  const Descriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  termios before{};
  if (terminal.get() == -1 || tcgetattr(terminal.get(), &before) != 0)
    return bad_configuration("--ask-password needs a terminal, but there is none");
  int signal = 0;
  std::string password = read_silently(terminal.get(), before, signal);
  if (signal != 0) raise(signal);  // ends the program
  if (signal != 0 || password.empty()) return bad_configuration("no password was given");
  return password;
}

}  // namespace sheaf::cli
