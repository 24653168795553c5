#include "cli/line/command_row.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sheaf::cli {

namespace {

constexpr std::array globals{
    OptionRow{"--servers", "URI",
              "the servers: mqtt://b1*2,b2, memcached://c1,c2, redis://r1, ..."},
    OptionRow{"--config", "FILE", "JSON file that names the servers", completes_files},
    OptionRow{"--cluster", "NAME", "which cluster of the file"},
    OptionRow{"--password-file", "FILE", "file whose first line is the password", completes_files},
    OptionRow{"--ask-password", "", "ask for the password on the terminal"},
    OptionRow{"--timeout", "DURATION", "time limit of each request: 250ms, 3s, 1m (default 3s)"},
    OptionRow{"--json", "", "machine-readable output, one JSON object a line"},
    OptionRow{"--help", "", "print the help, or the help of a command"},
    OptionRow{"--version", "", "print the version"},
};

constexpr std::array exits{
    ExitRow{0, "done"},
    ExitRow{1, "the key is absent, or the condition did not hold"},
    ExitRow{2, "not allowed: the command line, a key, a value or the configuration is wrong"},
    ExitRow{3,
            "failed: not reached, timed out, refused by the server; of several keys some may be "
            "done; or standard output could not be written, whether or not the command succeeded"},
    ExitRow{4, "unknown: a write may have happened, or may still happen"},
};

constexpr std::array variables{
    VariableRow{"SHEAF_SERVERS", "like --servers, if neither it nor --config is given"},
    VariableRow{"SHEAF_CONFIG", "like --config, if none of those above names servers"},
    VariableRow{"SHEAF_CLUSTER", "like --cluster, if that is not given"},
    VariableRow{"SHEAF_PASSWORD", "the password"},
    VariableRow{"AIO_BROKER_HOSTNAME",
                "the broker, if nothing above and no file names servers, with AIO_BROKER_TCP_PORT, "
                "AIO_TLS_CA_FILE, AIO_SAT_FILE and others of Azure IoT Operations"},
    VariableRow{"CONNECTOR_CONFIGURATION_MOUNT_PATH", "the same in a connector"},
    VariableRow{"ConnectionStrings__Default", "the same as one text, HostName=...;TcpPort=...;..."},
    VariableRow{"NO_COLOR", "if not empty, no colours"},
};

}  // namespace

std::span<const OptionRow> global_options() noexcept { return globals; }
std::span<const ExitRow> exit_codes() noexcept { return exits; }
std::span<const VariableRow> environment_variables() noexcept { return variables; }

bool CommandRow::refuses(std::string_view option) const noexcept {
  return std::ranges::find(refused.options, option) != refused.options.end();
}

const CommandRow* find_command(CommandTable table, std::string_view name) noexcept {
  const auto found = std::ranges::find(table, name, &CommandRow::name);
  return found == table.end() ? nullptr : &*found;
}

bool begins_commands(CommandTable table, std::string_view word) noexcept {
  return std::ranges::any_of(table, [&](const CommandRow& row) {
    return row.name.starts_with(word) && row.name.substr(word.size()).starts_with(' ');
  });
}

ArgumentCount count_of_arguments(const CommandRow& row) noexcept {
  ArgumentCount count;
  bool any = false;
  bool optional = false;
  std::string_view rest = row.arguments;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    optional = optional || word.starts_with('[');
    // An option, or "--" itself, is not an argument.
    if (!word.contains("--")) {
      ++count.most;
      if (!optional) ++count.least;
      any = any || word.contains("...");
    }
    if (word.ends_with(']')) optional = false;
  }
  if (any) count.most = std::numeric_limits<std::size_t>::max();
  return count;
}

}  // namespace sheaf::cli
