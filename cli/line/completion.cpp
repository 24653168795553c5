// Completions of bash, zsh and fish. Each script has the words of the table; none runs the program.

#include <set>
#include <string>

#include "cli/line/command_table.h"
#include "cli/line/help.h"

namespace sheaf::cli {

namespace {

std::string first_word(std::string_view name) {
  return std::string(name.substr(0, name.find(' ')));
}
std::string second_word(std::string_view name) {
  const std::size_t space = name.find(' ');
  return space == name.npos ? std::string() : std::string(name.substr(space + 1));
}

std::string names_of(std::span<const OptionRow> rows) {
  std::string names;
  for (const OptionRow& row : rows) names.append(" ").append(row.name);
  return names;
}

// Each first word once, in the order of the table.
std::vector<std::string> commands() {
  std::vector<std::string> words;
  for (const CommandRow& row : command_table()) {
    if (std::string word = first_word(row.name); words.empty() || words.back() != word)
      words.push_back(std::move(word));
  }
  return words;
}

std::string actions_of(const std::string& command) {
  std::string all;
  for (const CommandRow& row : command_table()) {
    if (first_word(row.name) == command && !second_word(row.name).empty())
      all += " " + second_word(row.name);
  }
  return all;
}

std::string options_of(const std::string& command) {
  std::set<std::string_view> names;
  std::string all;
  for (const CommandRow& row : command_table()) {
    if (first_word(row.name) != command) continue;
    for (const OptionRow& option : row.options) {
      if (names.insert(option.name).second) all.append(" ").append(option.name);
    }
  }
  return all;
}

// Options whose value is a file, or is anything, joined by `|`.
std::string options_with(bool files) {
  std::set<std::string_view> names;
  const auto add = [&](std::span<const OptionRow> rows) {
    for (const OptionRow& row : rows) {
      if (!row.value.empty() && (row.completes == Completes::files) == files)
        names.insert(row.name);
    }
  };
  add(global_options());
  for (const CommandRow& row : command_table()) add(row.options);
  std::string all;
  for (const std::string_view name : names) all.append(all.empty() ? "" : "|").append(name);
  return all;
}

// In single quotes of a shell.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash() {
  std::string words;
  for (const std::string& word : commands()) words += " " + word;
  std::string out = R"(# bash completion for sheaf: source <(sheaf completion bash)
_sheaf() {
  local word=${COMP_WORDS[COMP_CWORD]} command= action= i
  COMPREPLY=()
  case ${COMP_WORDS[COMP_CWORD-1]} in
    )";
  out += options_with(true) + R"()
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return ;;
    )";
  out += options_with(false) + R"()
      return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) return ;;
      )";
  out += options_with(true) + "|" + options_with(false) + R"() ((i++)) ;;
      -*) ;;
      *)
        if [ -z "$command" ]; then command=${COMP_WORDS[i]}
        elif [ -z "$action" ]; then action=${COMP_WORDS[i]}; fi ;;
    esac
  done
  local options=")";
  out += names_of(global_options()) + "\" actions=\n  case $command in\n    '') actions=\"" +
         words + "\" ;;\n";
  for (const std::string& command : commands()) {
    out += "    " + command + ")";
    if (const std::string actions = actions_of(command); !actions.empty())
      out += " [ -n \"$action\" ] || actions=\"" + actions + "\";";
    if (command == "completion") out += " actions=\"bash zsh fish\";";
    if (command == "help") out += " actions=\"" + words + "\";";
    out += " options+=\"" + options_of(command) + "\" ;;\n";
  }
  return out + R"(  esac
  case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$actions" -- "$word") ;;
  esac
}
complete -F _sheaf sheaf
)";
}

std::string zsh_options(std::span<const OptionRow> rows) {
  std::string out;
  for (const OptionRow& row : rows) {
    std::string help(row.help);
    for (std::size_t at = 0; (at = help.find_first_of("[]:", at)) != help.npos; at += 2)
      help.insert(at, "\\");
    std::string spec = std::string(row.name) + "[" + help + "]";
    if (!row.value.empty()) {
      spec += ":" + std::string(row.value) + ":";
      if (row.completes == Completes::files) spec += "_files";
    }
    out += " \\\n      " + quoted(spec);
  }
  return out;
}

std::string zsh() {
  std::string out =
      "#compdef sheaf\n# zsh completion for sheaf: a file _sheaf in a folder of $fpath, "
      "or source <(sheaf completion zsh)\n_sheaf() {\n  local -a commands\n"
      "  commands=(\n";
  for (const std::string& command : commands()) {
    const CommandRow* row = find_command(command);
    const std::string purpose =
        row != nullptr ? std::string(row->purpose) : "lists: push, range, ...";
    out += "    " + quoted(command + ":" + purpose) + "\n";
  }
  out += "  )\n  local curcontext=$curcontext state line\n  _arguments -C" +
         zsh_options(global_options()) +
         " \\\n      '1: :->command' '*:: :->words' && return\n  case $state in\n"
         "  command) _describe command commands ;;\n  words)\n    case $line[1] in\n";
  for (const std::string& command : commands()) {
    out += "    " + command + ")";
    if (const std::string actions = actions_of(command); !actions.empty())
      out += " [ $CURRENT -gt 2 ] || { compadd --" + actions + "; return; };";
    if (command == "completion") out += " compadd bash zsh fish; return;";
    if (command == "help") out += " _describe command commands; return;";
    out += " _arguments" + zsh_options(global_options());
    for (const CommandRow& row : command_table()) {
      if (first_word(row.name) == command) out += zsh_options(row.options);
    }
    out += " ;;\n";
  }
  return out +
         "    esac ;;\n  esac\n}\n[ \"$funcstack[1]\" = _sheaf ] && _sheaf \"$@\" || "
         "compdef _sheaf sheaf\n";
}

std::string fish_option(const OptionRow& row, const std::string& when) {
  std::string out = "complete -c sheaf" + when + " -l " + std::string(row.name.substr(2));
  if (!row.value.empty()) out += row.completes == Completes::files ? " -rF" : " -x";
  return out + " -d " + quoted(row.help) + "\n";
}

std::string fish() {
  std::string out =
      "# fish completion for sheaf: sheaf completion fish | source\n"
      "complete -c sheaf -f\n";
  for (const OptionRow& row : global_options()) out += fish_option(row, "");
  for (const std::string& command : commands()) {
    const CommandRow* row = find_command(command);
    const std::string purpose = row != nullptr ? std::string(row->purpose) : "lists";
    out += "complete -c sheaf -n __fish_use_subcommand -a " + command + " -d " + quoted(purpose) +
           "\n";
    const std::string when = " -n '__fish_seen_subcommand_from " + command + "'";
    if (const std::string actions = actions_of(command); !actions.empty())
      out += "complete -c sheaf" + when + " -a '" + actions.substr(1) + "'\n";
    if (command == "completion") out += "complete -c sheaf" + when + " -a 'bash zsh fish'\n";
    std::set<std::string_view> seen;
    for (const CommandRow& each : command_table()) {
      if (first_word(each.name) != command) continue;
      for (const OptionRow& option : each.options) {
        if (seen.insert(option.name).second) out += fish_option(option, when);
      }
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  return std::nullopt;
}

}  // namespace sheaf::cli
