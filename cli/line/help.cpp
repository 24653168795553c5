#include "cli/line/help.h"

#include <algorithm>
#include <cctype>

#include "base/wrapped_text.h"

namespace sheaf::cli {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t left_column = 28;

// "  NAME                      MEANING", on several lines if needed.
std::string row_of(std::string_view name, std::string_view meaning) {
  std::string line = "  " + std::string(name);
  if (line.size() + 2 > left_column) return line + "\n" + wrapped(meaning, width, left_column);
  line.resize(left_column, ' ');
  return line + wrapped(meaning, width, left_column, left_column);
}

std::string name_of(const OptionRow& option) {
  std::string name(option.name);
  if (!option.value.empty()) name.append(" ").append(option.value);
  return name;
}

std::string synopsis(const CommandRow& row) {
  std::string line(row.name);
  if (!row.arguments.empty()) line.append(" ").append(row.arguments);
  return line;
}

std::string options(std::string_view heading, std::span<const OptionRow> rows) {
  if (rows.empty()) return "";
  std::string out = "\n" + std::string(heading) + "\n";
  for (const OptionRow& row : rows) out += row_of(name_of(row), row.help);
  return out;
}

// Says where the help common to all commands is.
std::string pointer(const CommandRow* row = nullptr) {
  if (row == nullptr || row->refused.options.empty())
    return "\nGlobal options, environment and exit codes: sheaf help options\n";
  std::string allowed;
  for (const OptionRow& option : global_options()) {
    if (!row->refuses(option.name)) allowed.append(allowed.empty() ? "" : ", ").append(option.name);
  }
  return "\n" + wrapped("Global options: " + allowed + "; see sheaf help options", width);
}

std::string help_of_options() {
  std::string out = "Usage: sheaf [OPTIONS] COMMAND\n";
  out += options("Global options, before or after the command:", global_options());
  out += row_of("--", "ends the options: all words after it are keys and values");
  out += "\nEnvironment:\n";
  for (const VariableRow& row : environment_variables()) out += row_of(row.name, row.meaning);
  out += wrapped(
      "If no option and no variable of SHEAF names servers, those of ~/.config/sheaf.json are "
      "used.",
      width, 2);
  out += "\nExit codes:\n";
  for (const ExitRow& row : exit_codes()) out += row_of(std::to_string(row.code), row.meaning);
  return out;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += "\n" + wrapped(text.substr(0, end), width);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

std::string sentence(std::string_view phrase) {
  std::string out(phrase);
  out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  return out + ".";
}

std::string help_of_command(const CommandRow& row) {
  std::string out = "Usage: sheaf [OPTIONS] " + synopsis(row) + "\n\n";
  out += wrapped(sentence(row.purpose), width);
  out += paragraphs(row.text);
  out += options("Options of " + std::string(row.name) + ":", row.options);
  out += "\nExamples:\n";
  for (const std::string_view example : row.examples) out += "  " + std::string(example) + "\n";
  return out + pointer(&row);
}

std::string overview(CommandTable table, std::string_view first_word) {
  std::string out;
  std::string_view group;
  for (const CommandRow& row : table) {
    if (!first_word.empty() && !row.name.starts_with(std::string(first_word) + " ")) continue;
    if (row.group != group) out += "\n" + std::string(row.group) + "\n";
    group = row.group;
    out += row_of(synopsis(row), row.purpose);
  }
  return out;
}

constexpr std::string_view name_of_options = "options";

}  // namespace

bool has_help(CommandTable table, std::string_view name) noexcept {
  return name.empty() || name == name_of_options || find_command(table, name) != nullptr ||
         begins_commands(table, name);
}

std::string help_of(CommandTable table, std::string_view name) {
  if (const CommandRow* row = find_command(table, name)) return help_of_command(*row);
  if (name == name_of_options) return help_of_options();
  if (begins_commands(table, name)) {
    return "Usage: sheaf [OPTIONS] " + std::string(name) + " COMMAND\n" + overview(table, name) +
           pointer();
  }
  return "Usage: sheaf [OPTIONS] COMMAND\n\n" +
         wrapped(
             "Reads and writes keys of state stores, memcached servers and Redis clusters. "
             "sheaf help COMMAND describes a command.",
             width) +
         overview(table, "") + pointer();
}

}  // namespace sheaf::cli
