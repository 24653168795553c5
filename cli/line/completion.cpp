// Completions for bash, zsh and fish. The scripts contain the words of the rows; none runs sheaf.

#include <set>
#include <string>
#include <vector>

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

// In single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A first word of commands, with everything from the rows that begin with it.
struct Word {
  std::string name;
  std::string purpose;
  std::string actions;              // " push insert ..."
  std::vector<OptionRow> options;   // each name once
  Completion completion;            // of the arguments
  const CommandRow* row = nullptr;  // one of its rows
};

void add_row(Word& word, const CommandRow& row) {
  std::set<std::string_view> names;
  for (const OptionRow& option : word.options) names.insert(option.name);
  for (const OptionRow& option : row.options) {
    if (names.insert(option.name).second) word.options.push_back(option);
  }
  if (const std::string action = second_word(row.name); !action.empty()) {
    word.actions += " " + action;
    word.purpose = "commands for lists";
  }
}

// In the order of the rows.
std::vector<Word> words_of(CommandTable table) {
  std::vector<Word> words;
  for (const CommandRow& row : table) {
    if (std::string name = first_word(row.name); words.empty() || words.back().name != name) {
      words.push_back({std::move(name), std::string(row.purpose), {}, {}, row.completion, &row});
    }
    add_row(words.back(), row);
  }
  return words;
}

// The global options that a command accepts.
std::vector<OptionRow> globals_of(const CommandRow& row) {
  std::vector<OptionRow> rows;
  for (const OptionRow& option : global_options()) {
    if (!row.refuses(option.name)) rows.push_back(option);
  }
  return rows;
}

std::string names_of(std::span<const OptionRow> rows) {
  std::string names;
  for (const OptionRow& row : rows) names.append(" ").append(row.name);
  return names;
}

class Bash {
 public:
  explicit Bash(CommandTable table) : words_(words_of(table)) {}

  std::string script() const {
    std::string out(beginning);
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
    out += options_with_file() + ") values=(-f) ;;\n" + options_with_words() + R"(  esac
  if [ "${#values[@]}" -gt 0 ]; then
    mapfile -t COMPREPLY < <(compgen -P "$lead" "${values[@]}" -- "${word#"$lead"}")
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    return
  fi
  [ -z "$lead" ] || return
  case $previous in
    )";
    out += options_with_value() + R"() return ;;
  esac
  local options=")";
    out += names_of(global_options()) + "\" actions=\n  case $command in\n" + commands();
    return out + R"(  esac
  case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$actions" -- "$word") ;;
  esac
}
complete -F _sheaf sheaf
)";
  }

 private:
  // Everything before the options that take a value.
  static constexpr std::string_view beginning =
      R"(# bash completion for sheaf: source <(sheaf completion bash)
_sheaf() {
  local rest=${COMP_LINE:0:COMP_POINT} next part= lead= command= previous= i
  local -a words=() args=() values=()
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

  // Options with a value, joined by `|`.
  std::string options_with_value() const {
    std::set<std::string_view> names;
    const auto add = [&](std::span<const OptionRow> rows) {
      for (const OptionRow& row : rows) {
        if (!row.value.empty()) names.insert(row.name);
      }
    };
    add(global_options());
    for (const Word& word : words_) add(word.options);
    std::string all;
    for (const std::string_view name : names) all.append(all.empty() ? "" : "|").append(name);
    return all;
  }
  // Patterns of COMMAND:OPTION whose value is a file, joined by `|`.
  std::string options_with_file() const {
    std::string all;
    const auto add = [&](const std::string& command, std::span<const OptionRow> rows) {
      for (const OptionRow& row : rows) {
        if (row.completion.kind != Completion::Kind::files) continue;
        all.append(all.empty() ? "" : "|").append(command).append(":").append(row.name);
      }
    };
    add("*", global_options());
    for (const Word& word : words_) add(word.name, word.options);
    return all;
  }
  // One line for each option with known values.
  std::string options_with_words() const {
    std::string out;
    for (const Word& word : words_) {
      for (const OptionRow& row : word.options) {
        if (row.completion.kind != Completion::Kind::words) continue;
        out.append("    " + word.name + ":").append(row.name).append(") values=(-W \"");
        out.append(row.completion.words).append("\") ;;\n");
      }
    }
    return out;
  }
  std::string names() const {
    std::string all;
    for (const Word& word : words_) all += " " + word.name;
    return all;
  }
  // The words offered after each command.
  std::string commands() const {
    std::string out = "    '') actions=\"" + names() + "\" ;;\n";
    for (const Word& word : words_) {
      out += "    " + word.name + ")";
      if (!word.actions.empty())
        out += " [ ${#args[@]} -gt 0 ] || actions=\"" + word.actions + "\";";
      if (word.completion.kind == Completion::Kind::words)
        out.append(" actions=\"").append(word.completion.words).append("\";");
      if (word.completion.kind == Completion::Kind::commands)
        out += names_then_actions(word.completion.words);
      if (!word.row->refused.options.empty())
        out += " options=\"" + names_of(globals_of(*word.row)) + "\";";
      out += " options+=\"" + names_of(word.options) + "\" ;;\n";
    }
    return out;
  }
  // All commands, and after the first word of some, its second words.
  std::string names_then_actions(std::string_view more) const {
    std::string out = " case ${args[*]-} in '') actions=\"" + names() + " ";
    out.append(more).append("\" ;;");
    for (const Word& word : words_) {
      if (!word.actions.empty())
        out.append(" ").append(word.name).append(") actions=\"" + word.actions + "\" ;;");
    }
    return out + " esac;";
  }

  std::vector<Word> words_;
};

std::string zsh_options(std::span<const OptionRow> rows) {
  std::string out;
  for (const OptionRow& row : rows) {
    std::string help(row.help);
    for (std::size_t at = 0; (at = help.find_first_of("[]:", at)) != help.npos; at += 2)
      help.insert(at, "\\");
    std::string spec = std::string(row.name) + "[" + help + "]";
    if (!row.value.empty()) {
      spec += ":" + std::string(row.value) + ":";
      if (row.completion.kind == Completion::Kind::files) spec += "_files";
      if (row.completion.kind == Completion::Kind::words)
        spec += "(" + std::string(row.completion.words) + ")";
    }
    out += " \\\n      " + shell_quoted(spec);
  }
  return out;
}

std::string zsh(CommandTable table) {
  const std::vector<Word> words = words_of(table);
  std::string out =
      "#compdef sheaf\n# zsh completion for sheaf: a file _sheaf in a folder of $fpath, "
      "or source <(sheaf completion zsh)\n_sheaf() {\n  local -a commands\n"
      "  commands=(\n";
  for (const Word& word : words)
    out += "    " + shell_quoted(word.name + ":" + word.purpose) + "\n";
  out += "  )\n  local curcontext=$curcontext state line\n  _arguments -C" +
         zsh_options(global_options()) +
         " \\\n      '1: :->command' '*:: :->words' && return\n  case $state in\n"
         "  command) _describe command commands ;;\n  words)\n    case $line[1] in\n";
  const auto offer = [](std::string_view what) {
    return std::string(" [[ $words[CURRENT] = -* ]] || { ").append(what).append("; return; };");
  };
  for (const Word& word : words) {
    out += "    " + word.name + ")";
    if (!word.actions.empty())
      out += " [ $CURRENT -gt 2 ] || { compadd --" + word.actions + "; return; };";
    if (word.completion.kind == Completion::Kind::words)
      out += offer("compadd -- " + std::string(word.completion.words));
    if (word.completion.kind == Completion::Kind::commands)
      out += offer("_describe command commands; compadd -- " + std::string(word.completion.words));
    out += " _arguments" + zsh_options(globals_of(*word.row)) + zsh_options(word.options) + " ;;\n";
  }
  return out +
         "    esac ;;\n  esac\n}\n[ \"$funcstack[1]\" = _sheaf ] && _sheaf \"$@\" || "
         "compdef _sheaf sheaf\n";
}

std::string fish_option(const OptionRow& row, const std::string& when) {
  std::string out = "complete -c sheaf" + when + " -l " + std::string(row.name.substr(2));
  if (!row.value.empty()) {
    out += row.completion.kind == Completion::Kind::files ? " -rF" : " -x";
    if (row.completion.kind == Completion::Kind::words)
      out += " -a " + shell_quoted(row.completion.words);
  }
  return out + " -d " + shell_quoted(row.help) + "\n";
}

// A shell condition: one of the commands was typed, or with `none`, none of them.
std::string fish_seen(std::string_view names, bool none = false) {
  return std::string(" -n '") + (none ? "not " : "") + "__fish_seen_subcommand_from " +
         std::string(names) + "'";
}

std::string fish(CommandTable table) {
  const std::vector<Word> words = words_of(table);
  std::string out =
      "# fish completion for sheaf: sheaf completion fish | source\n"
      "complete -c sheaf -f\n";
  for (const OptionRow& row : global_options()) {
    std::string refusing;
    for (const Word& word : words) {
      if (word.row->refuses(row.name)) refusing += (refusing.empty() ? "" : " ") + word.name;
    }
    out += fish_option(row, refusing.empty() ? "" : fish_seen(refusing, true));
  }
  for (const Word& word : words) {
    out += "complete -c sheaf -n __fish_use_subcommand -a " + word.name + " -d " +
           shell_quoted(word.purpose) + "\n";
    const std::string when = fish_seen(word.name);
    std::string offered(word.completion.words);
    if (!word.actions.empty()) offered = word.actions.substr(1);
    if (word.completion.kind == Completion::Kind::commands) {
      for (const Word& each : words) offered += (offered.empty() ? "" : " ") + each.name;
    }
    if (!offered.empty()) out += "complete -c sheaf" + when + " -a " + shell_quoted(offered) + "\n";
    for (const OptionRow& option : word.options) out += fish_option(option, when);
  }
  return out;
}

}  // namespace

std::optional<std::string> completion_script(CommandTable table, std::string_view shell) {
  if (shell == "bash") return Bash(table).script();
  if (shell == "zsh") return zsh(table);
  if (shell == "fish") return fish(table);
  return std::nullopt;
}

}  // namespace sheaf::cli
