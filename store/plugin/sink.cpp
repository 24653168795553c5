#include "store/plugin/sink.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/text.h"

namespace sheaf::store::plugin {
namespace {

constexpr std::string_view blanks = " \t\r";

// Removes the next word from `line` and returns it.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return line = {};
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The value of -c or --config-file.
std::string_view configuration_file(std::string_view command_line) {
  bool next = false;
  while (!command_line.empty()) {
    const std::string_view argument = command_line.substr(0, command_line.find('\0'));
    command_line.remove_prefix(std::min(command_line.size(), argument.size() + 1));
    if (next) return argument;
    next = argument == "-c" || argument == "--config-file";
  }
  return {};
}

// The file that the command line names, and those of its folders.
struct Configuration {
  std::vector<std::string> texts;
  bool complete = true;  // every file could be read
};

void add_folder(const std::string& folder, Configuration& configuration) {
  std::error_code failed;
  std::filesystem::directory_iterator files(folder, failed);
  if (failed) configuration.complete = false;
  for (; !failed && files != std::filesystem::directory_iterator(); files.increment(failed)) {
    if (files->path().extension() != ".conf") continue;
    if (auto text = read_file(files->path())) {
      configuration.texts.push_back(*std::move(text));
    } else {
      configuration.complete = false;
    }
  }
}

Configuration read_configuration(std::string_view command_line) {
  const std::string_view file = configuration_file(command_line);
  if (file.empty()) return {};
  auto text = read_file(std::filesystem::path(file));
  if (!text) return {.texts = {}, .complete = false};
  std::vector<std::string> folders;
  declared_sink(*text, folders);
  Configuration configuration{.texts = {*std::move(text)}};
  for (const std::string& folder : folders) add_folder(folder, configuration);
  return configuration;
}

// Without a file mosquitto has no bridges.
Sink find_sink(const Configuration& configuration) {
  std::vector<std::string> nested;  // mosquitto refuses include_dir in an included file
  for (const std::string& text : configuration.texts) {
    if (auto bridge = declared_sink(text, nested)) return {SinkState::declared, *std::move(bridge)};
  }
  return {configuration.complete ? SinkState::missing : SinkState::unknown, {}};
}

}  // namespace

std::string SinkBridge::client_id(std::string_view host) const {
  if (!local_id.empty()) return local_id;
  return "local." + (remote_id.empty() ? std::string(host) + "." + name : remote_id);
}

std::optional<SinkBridge> declared_sink(std::string_view configuration,
                                        std::vector<std::string>& include_dirs) {
  std::optional<SinkBridge> found;
  SinkBridge bridge;  // the section that is being read
  bool is_it = false;
  const auto end_section = [&] {
    if (is_it && !found) found = bridge;
    bridge = {};
    is_it = false;
  };
  while (!configuration.empty()) {
    std::string_view line = configuration.substr(0, configuration.find('\n'));
    configuration.remove_prefix(std::min(configuration.size(), line.size() + 1));
    const std::string_view name = next_word(line);
    const std::string_view value = next_word(line);
    if (name == "connection") {
      end_section();
      bridge.name = value;
    } else if (name == "local_clientid") {
      bridge.local_id = value;
    } else if (name == "remote_clientid" || name == "clientid") {
      bridge.remote_id = value;
    } else if (name == "topic" && value == sink_topic) {
      const std::string_view direction = next_word(line);  // empty means out
      is_it = is_it || direction != "in";
    } else if (name == "include_dir" && !value.empty()) {
      include_dirs.emplace_back(value);
    }
  }
  end_section();
  return found;
}

std::optional<std::chrono::seconds> declared_sys_interval(std::string_view configuration) {
  std::optional<std::chrono::seconds> found;
  while (!configuration.empty()) {
    std::string_view line = configuration.substr(0, configuration.find('\n'));
    configuration.remove_prefix(std::min(configuration.size(), line.size() + 1));
    if (next_word(line) != "sys_interval") continue;
    const auto number = parse_decimal(next_word(line));
    if (number && *number <= 65'535) found = std::chrono::seconds(*number);
  }
  return found;
}

BrokerSettings read_settings(std::string_view command_line) {
  const Configuration configuration = read_configuration(command_line);
  BrokerSettings settings;
  settings.sink = find_sink(configuration);
  for (const std::string& text : configuration.texts) {
    settings.sys_interval = declared_sys_interval(text).value_or(settings.sys_interval);
  }
  return settings;
}

}  // namespace sheaf::store::plugin
