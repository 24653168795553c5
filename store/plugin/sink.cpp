#include "store/plugin/sink.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace sheaf::store::plugin {
namespace {

constexpr std::string_view blanks = " \t\r";

// Cuts the next word off `line`.
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

SinkState find_in_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::directory_iterator files(folder, failed);
  SinkState state = failed ? SinkState::unknown : SinkState::missing;
  while (!failed && files != std::filesystem::directory_iterator()) {
    if (files->path().extension() == ".conf") {
      std::vector<std::string> nested;  // mosquitto refuses include_dir in an included file
      const std::optional<std::string> text = read_file(files->path());
      if (!text) {
        state = SinkState::unknown;
      } else if (declares_sink(*text, nested)) {
        return SinkState::declared;
      }
    }
    files.increment(failed);
  }
  return state;
}

}  // namespace

bool declares_sink(std::string_view configuration, std::vector<std::string>& include_dirs) {
  bool found = false;
  while (!configuration.empty()) {
    std::string_view line = configuration.substr(0, configuration.find('\n'));
    configuration.remove_prefix(std::min(configuration.size(), line.size() + 1));
    const std::string_view name = next_word(line);
    const std::string_view value = next_word(line);
    if (name == "topic" && value == sink_topic) {
      const std::string_view direction = next_word(line);  // none = out
      found = found || direction != "in";
    } else if (name == "include_dir" && !value.empty()) {
      include_dirs.emplace_back(value);
    }
  }
  return found;
}

SinkState find_sink(std::string_view command_line) {
  const std::string_view file = configuration_file(command_line);
  if (file.empty()) return SinkState::missing;  // mosquitto without a file has no bridges
  const std::optional<std::string> text = read_file(std::filesystem::path(file));
  if (!text) return SinkState::unknown;
  std::vector<std::string> folders;
  if (declares_sink(*text, folders)) return SinkState::declared;
  SinkState state = SinkState::missing;
  for (const std::string& folder : folders) {
    const SinkState found = find_in_folder(folder);
    if (found == SinkState::declared) return found;
    if (found == SinkState::unknown) state = found;
  }
  return state;
}

}  // namespace sheaf::store::plugin
