#include "cli/line/parser.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <sheaf/version.h>

#include "base/nearest_word.h"
#include "base/text.h"
#include "cli/line/guarded_words.h"
#include "cli/line/help.h"

namespace sheaf::cli {

namespace {

// "list push" → "list", "push".
std::vector<std::string> parts_of(std::string_view name) {
  const std::size_t space = name.find(' ');
  if (space == name.npos) return {std::string(name)};
  return {std::string(name.substr(0, space)), std::string(name.substr(space + 1))};
}

// `about`: the command, or nothing.
EarlyExit refusal(std::string sentence, std::string_view about = {}) {
  const std::string where = about.empty() ? "" : " " + std::string(about);
  return {ExitCode::usage, std::move(sentence) + " See sheaf help" + where + "."};
}

// True for flags that CLI11 itself handles.
bool has_its_own_flag(std::string_view option) {
  return option == "--help" || option == "--version";
}

}  // namespace

class LineParser::Apps {
 public:
  explicit Apps(CommandTable table) : table_(table), app_("", "sheaf") {
    app_.set_help_flag("-h,--help")->disable_flag_override();
    app_.set_version_flag("-V,--version", "")->disable_flag_override();
    add_options(app_, global_options());
    for (const CommandRow& row : table_) add_command(row);
  }

  std::expected<ParsedLine, EarlyExit> parse(const std::vector<std::string>& words) {
    // CLI11 forgets an earlier command line by itself, but not the values it stored.
    for (auto& [name, value] : values_) value.clear();
    words_.clear();
    const std::vector<std::string> guarded = guard_words(table_, words);
    try {
      app_.parse(std::vector<std::string>(guarded.rbegin(), guarded.rend()));
    } catch (const CLI::CallForHelp&) {
      return std::unexpected(EarlyExit{ExitCode::done, help_of(table_, name())});
    } catch (const CLI::CallForVersion&) {
      return std::unexpected(EarlyExit{ExitCode::done, "sheaf " SHEAF_VERSION "\n"});
    } catch (const CLI::ParseError& error) {
      return std::unexpected(complaint(error));
    }
    const CommandRow* const row = find_command(table_, name());
    if (row == nullptr) return std::unexpected(wrong_command());
    return taken(*row);
  }

 private:
  void add_options(CLI::App& app, std::span<const OptionRow> rows) {
    for (const OptionRow& row : rows) {
      const std::string name(row.name);
      if (has_its_own_flag(name)) continue;
      if (row.value.empty()) {
        app.add_flag(name)->disable_flag_override();
      } else {
        app.add_option(name, values_[name]);
      }
    }
  }
  void add_command(const CommandRow& row) {
    CLI::App* app = &app_;
    for (const std::string& part : parts_of(row.name)) {
      const auto found = app->get_subcommands([&](CLI::App* s) { return s->get_name() == part; });
      CLI::App* const next = found.empty() ? app->add_subcommand(part) : found.front();
      next->fallthrough();
      next->set_help_flag("-h,--help")->disable_flag_override();
      app = next;
    }
    add_options(*app, row.options);
    app->add_option("ARGUMENT", words_);
  }

  // The name of the command, as far as it was read.
  std::string name() const {
    std::string name;
    for (const CLI::App* app = &app_; !app->get_subcommands().empty();) {
      app = app->get_subcommands().front();
      if (!name.empty()) name += ' ';
      name += app->get_name();
    }
    return name;
  }
  const CLI::App& command() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  std::expected<ParsedLine, EarlyExit> taken(const CommandRow& row) const {
    ParsedLine line;
    line.table = table_;
    line.row = &row;
    for (const std::string& word : words_) line.arguments.push_back({unguard(word), literal(word)});
    const ArgumentCount count = count_of_arguments(row);
    if (line.arguments.size() < count.least || line.arguments.size() > count.most) {
      std::string what = row.arguments.empty() ? "no argument" : std::string(row.arguments);
      if (what.ends_with("...")) what.resize(what.size() - 3);  // a full stop follows
      const std::string extra = line.arguments.size() > count.most
                                    ? (row.arguments.empty() ? ", not " : ", not also ") +
                                          quoted(line.arguments[count.most].text)
                                    : "";
      return std::unexpected(
          refusal(std::string(row.name) + " expects " + what + extra + ".", row.name));
    }
    take_options(app_, global_options(), line);
    take_options(command(), row.options, line);
    for (const std::string_view option : row.refused.options) {
      if (line.has(option)) return std::unexpected(not_for(row, option));
    }
    return line;
  }
  void take_options(const CLI::App& app, std::span<const OptionRow> rows, ParsedLine& line) const {
    for (const OptionRow& row : rows) {
      const std::string name(row.name);
      if (has_its_own_flag(name) || app.count(name) == 0) continue;
      line.options[name] = row.value.empty() ? "" : unguard(values_.at(name));
    }
  }

  static EarlyExit not_for(const CommandRow& row, std::string_view option) {
    return {ExitCode::usage, std::string(option)
                                 .append(" is not for ")
                                 .append(row.name)
                                 .append(": ")
                                 .append(std::string(row.refused.why) + ".")};
  }
  static std::string quoted(std::string_view word) { return "\"" + printable(word) + "\""; }

  // The command is missing, unknown or incomplete.
  EarlyExit wrong_command() const {
    const std::string begun = name();
    std::vector<std::string_view> known;
    for (const CommandRow& row : table_) {
      if (begun.empty()) {
        known.push_back(row.name.substr(0, row.name.find(' ')));
      } else if (row.name.starts_with(begun + " ")) {
        known.push_back(row.name.substr(begun.size() + 1));
      }
    }
    const std::vector<std::string> rest = app_.remaining(true);
    if (rest.empty() && begun.empty()) return refusal("A command is missing.");
    if (!rest.empty()) {
      const std::string word = unguard(rest.front());
      if (rest.front().starts_with('-') && word != "-") return unknown_option(word, begun);
      return refusal((begun.empty() ? "There is no command " : begun + " has no command ") +
                         quoted(word) + "." + (begun.empty() ? taken_as_value(known) : "") +
                         did_you_mean(word, known),
                     begun);
    }
    std::string all;
    for (const std::string_view each : known) all.append(all.empty() ? "" : ", ").append(each);
    return refusal(begun + " needs one of: " + all + ".", begun);
  }
  // " The word "get" is the value of --timeout.", if an option lacks its value and has taken the
  // command for it.
  std::string taken_as_value(const std::vector<std::string_view>& commands) const {
    for (const OptionRow& option : global_options()) {
      const auto value = values_.find(std::string(option.name));
      if (value == values_.end() || app_.count(value->first) == 0) continue;
      const std::string word = unguard(value->second);
      if (std::ranges::find(commands, word) == commands.end()) continue;
      return " The word " + quoted(word) + " is the value of " + value->first + ".";
    }
    return "";
  }
  // For an option in the place of a command.
  static EarlyExit unknown_option(const std::string& word, const std::string& begun) {
    std::vector<std::string_view> known;
    for (const OptionRow& option : global_options()) known.push_back(option.name);
    const std::string name = word.substr(0, word.find('='));
    return refusal("There is no option " + quoted(name) + "." + did_you_mean(name, known), begun);
  }
  EarlyExit wrong_option(const CommandRow& row, const std::string& word) const {
    std::vector<std::string_view> known;
    for (const OptionRow& option : row.options) known.push_back(option.name);
    for (const OptionRow& option : global_options()) {
      if (!row.refuses(option.name)) known.push_back(option.name);
    }
    const std::string name = word.substr(0, word.find('='));
    return refusal(
        std::string(row.name) + " has no option " + quoted(name) + "." + did_you_mean(name, known),
        row.name);
  }

  // What is wrong with a command line that CLI11 rejects.
  EarlyExit complaint(const CLI::ParseError& error) const {
    const CommandRow* const row = find_command(table_, name());
    const std::vector<std::string> extras = app_.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      if (row == nullptr) return wrong_command();
      if (!extras.empty()) return wrong_option(*row, unguard(extras.front()));
    }
    const std::string text = error.what();
    // "json was given a disallowed flag override"
    if (const std::size_t end = text.find(" was given a disallowed"); end != text.npos)
      return refusal("--" + text.substr(0, end) + " takes no value.", name());
    // "--ttl: At Most 1 required but received 2" ("At most" since CLI11 2.6), "--ttl: 1 required
    // TEXT missing"
    const std::string option = text.substr(0, text.find(':'));
    if (option.starts_with("--")) {
      if (text.find("required but received") != text.npos)
        return refusal(option + " is given twice.", name());
      return refusal(option + " needs a value.", name());
    }
    return refusal(printable(text, longest_text) + ".");
  }

  static constexpr std::size_t longest_text = 300;

  CommandTable table_;
  CLI::App app_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> words_;
};

LineParser::LineParser(CommandTable table) : apps_(std::make_unique<Apps>(table)) {}
LineParser::~LineParser() = default;

std::expected<ParsedLine, EarlyExit> LineParser::parse(const std::vector<std::string>& words) {
  return apps_->parse(words);
}

}  // namespace sheaf::cli
