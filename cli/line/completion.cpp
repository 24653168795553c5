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

// Options with a value, joined by `|`.
std::string options_with_value() {
  std::set<std::string_view> names;
  const auto add = [&](std::span<const OptionRow> rows) {
    for (const OptionRow& row : rows) {
      if (!row.value.empty()) names.insert(row.name);
    }
  };
  add(global_options());
  for (const CommandRow& row : command_table()) add(row.options);
  std::string all;
  for (const std::string_view name : names) all.append(all.empty() ? "" : "|").append(name);
  return all;
}

// Patterns of COMMAND:OPTION where the value is a file, joined by `|`.
std::string options_with_file() {
  std::string all;
  const auto add = [&](const std::string& command, std::span<const OptionRow> rows) {
    for (const OptionRow& row : rows) {
      if (row.completes != Completes::files) continue;
      all.append(all.empty() ? "" : "|").append(command).append(":").append(row.name);
    }
  };
  add("*", global_options());
  for (const CommandRow& row : command_table()) add(first_word(row.name), row.options);
  return all;
}

// In single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Up to the options that take a value.
constexpr std::string_view bash_words =
    R"(# bash completion for sheaf: source <(sheaf completion bash)
_sheaf() {
  local rest=${COMP_LINE:0:COMP_POINT} next part= lead= command= previous= i
  local -a words=() args=()
  COMPREPLY=()
  # bash has cut words at : and = too. Parts with no blank between them are one word.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    next=${rest#"${rest%%[![:blank:]]*}"}
    part=${COMP_WORDS[i]}
    [ "$i" -lt "$COMP_CWORD" ] || part=$next
    if [ "$i" -gt 0 ] && [ "$next" = "$rest" ]; then words[${#words[@]}-1]+=$part
    else words+=("$part"); fi
    rest=${next#"$part"}
  done
  local last=$((${#words[@]} - 1))
  local word=${words[last]}
  # What is offered takes the place of the last part alone.
  case ${COMP_WORDBREAKS-} in *:*) part=${part##*:} ;; esac
  case ${COMP_WORDBREAKS-} in *=*) part=${part##*=} ;; esac
  local kept=${word%"$part"}
  for ((i = 1; i < last; i++)); do
    case ${words[i]} in
      --) return ;;
      )";

// What is offered after each command.
std::string bash_commands(const std::string& words) {
  std::string actions_of_help;
  for (const std::string& command : commands()) {
    if (const std::string actions = actions_of(command); !actions.empty())
      actions_of_help.append(" ").append(command).append(") actions=\"" + actions + "\" ;;");
  }
  std::string out = "    '') actions=\"" + words + "\" ;;\n";
  for (const std::string& command : commands()) {
    out += "    " + command + ")";
    if (const std::string actions = actions_of(command); !actions.empty())
      out += " [ ${#args[@]} -gt 0 ] || actions=\"" + actions + "\";";
    if (command == "completion") out += " actions=\"bash zsh fish\";";
    if (command == "help") {
      out += " case ${args[*]-} in '') actions=\"" + words + "\" ;;" + actions_of_help + " esac;";
    }
    out += " options+=\"" + options_of(command) + "\" ;;\n";
  }
  return out;
}

std::string bash() {
  std::string words;
  for (const std::string& word : commands()) words += " " + word;
  std::string out(bash_words);
  out += options_with_value() + R"() ((i++)) ;;
      -*) ;;
      *) if [ -z "$command" ]; then command=${words[i]}; else args+=("${words[i]}"); fi ;;
    esac
  done
  previous=${words[last-1]}
  case $word in
    --*=*) previous=${word%%=*} lead=$previous= ;;
  esac
  case $command:$previous in
    )";
  out += options_with_file() + R"()
      mapfile -t COMPREPLY < <(compgen -P "$lead" -f -- "${word#"$lead"}")
      COMPREPLY=("${COMPREPLY[@]#"$kept"}")
      return ;;
  esac
  [ -z "$lead" ] || return
  case $previous in
    )";
  out += options_with_value() + R"() return ;;
  esac
  local options=")";
  out += names_of(global_options()) + "\" actions=\n  case $command in\n" + bash_commands(words);
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
    out += " \\\n      " + shell_quoted(spec);
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
    out += "    " + shell_quoted(command + ":" + purpose) + "\n";
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
  return out + " -d " + shell_quoted(row.help) + "\n";
}

std::string fish() {
  std::string out =
      "# fish completion for sheaf: sheaf completion fish | source\n"
      "complete -c sheaf -f\n";
  for (const OptionRow& row : global_options()) out += fish_option(row, "");
  for (const std::string& command : commands()) {
    const CommandRow* row = find_command(command);
    const std::string purpose = row != nullptr ? std::string(row->purpose) : "lists";
    out += "complete -c sheaf -n __fish_use_subcommand -a " + command + " -d " +
           shell_quoted(purpose) + "\n";
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
