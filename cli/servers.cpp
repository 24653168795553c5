#include "cli/servers.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <sheaf/discovery.h>

#include "base/local_error.h"
#include "cli/line/password.h"

namespace sheaf::cli {

namespace {

using Clusters = std::vector<std::pair<std::string, ClusterConfig>>;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Failure bad_configuration(std::string text) {
  return Failure(local_error(Outcome::invalid, Reason::bad_configuration, std::move(text)));
}

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

std::string names_of(const Clusters& clusters) {
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
  return bad_configuration(
      cluster.empty()
          ? path +
                " has several clusters, and none is named \"default\": --cluster NAME or "
                "SHEAF_CLUSTER must say which of " +
                names_of(*clusters)
          : path + " has no cluster " + in_quotes(wanted) + ", only " + names_of(*clusters));
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
  return out;
}

// Whatever became of a look-up, nothing of a command has been sent.
Result<ClusterConfig> servers_of_uri(const std::string& uri, std::chrono::milliseconds timeout) {
  if (!ServerSource::is_source(uri)) return ClusterConfig::parse_uri(uri);
  const auto source = ServerSource::parse_uri(uri);
  if (!source) return Failure(source.error());
  return find_servers(*source, {.timeout = timeout}).transform_error([](Error error) {
    if (error.outcome == Outcome::unknown) error.outcome = Outcome::not_sent;
    return error;
  });
}

Result<ClusterConfig> choose_servers(const GlobalArguments& global,
                                     const Environment& environment) {
  const std::string& cluster = global.cluster.empty() ? environment.cluster : global.cluster;
  if (!global.servers.empty()) return servers_of_uri(global.servers, global.timeout);
  if (!global.config.empty()) return of_file(global.config, cluster);
  // Who names a cluster means a file.
  if (!environment.servers.empty() && global.cluster.empty())
    return servers_of_uri(environment.servers, global.timeout);
  if (!environment.config.empty()) return of_file(environment.config, cluster);
  std::error_code ignored;
  if (!environment.own_file.empty() && std::filesystem::exists(environment.own_file, ignored))
    return of_file(environment.own_file, cluster);
  return bad_configuration(
      "no servers are named: by --servers URI or --config FILE, by SHEAF_SERVERS or SHEAF_CONFIG, "
      "or by the file " +
      (environment.own_file.empty() ? "~/.config/sheaf.json" : environment.own_file));
}

Result<std::string> ask_password() {
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  termios before{};
  if (terminal == -1 || tcgetattr(terminal, &before) != 0) {
    if (terminal != -1) close(terminal);
    return bad_configuration("--ask-password needs a terminal, and there is none");
  }
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  tcsetattr(terminal, TCSAFLUSH, &silent);
  constexpr std::string_view question = "Password: ";
  std::string password;
  bool whole = ::write(terminal, question.data(), question.size()) >= 0;
  for (char c = 0; whole && ::read(terminal, &c, 1) == 1;) {
    if (c == '\n') break;
    password += c;
  }
  whole = ::write(terminal, "\n", 1) == 1;
  tcsetattr(terminal, TCSAFLUSH, &before);
  close(terminal);
  if (!whole || password.empty()) return bad_configuration("no password was given");
  return password;
}

}  // namespace sheaf::cli
