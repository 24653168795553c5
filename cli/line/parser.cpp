#include "cli/line/parser.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <sheaf/version.h>

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
  return {ExitCode::usage, std::move(sentence) + " sheaf help" + where + " tells more."};
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? "" : " Did you mean " + std::string(meant) + "?";
}

}  // namespace

class LineParser::Apps {
 public:
  Apps() : app_("", "sheaf") {
    app_.set_help_flag("-h,--help")->disable_flag_override();
    app_.set_version_flag("-V,--version", "")->disable_flag_override();
    add_options(app_, global_options());
    for (const CommandRow& row : command_table()) add_command(row);
  }

  std::expected<ParsedLine, EarlyExit> parse(const std::vector<std::string>& words) {
    // CLI11 forgets an earlier command line by itself, but not the values that it has filled in.
    for (auto& [name, value] : values_) value.clear();
    words_.clear();
    const std::vector<std::string> guarded = guard_words(words);
    try {
      app_.parse(std::vector<std::string>(guarded.rbegin(), guarded.rend()));
    } catch (const CLI::CallForHelp&) {
      return std::unexpected(EarlyExit{ExitCode::done, help_of(name())});
    } catch (const CLI::CallForVersion&) {
      return std::unexpected(EarlyExit{ExitCode::done, "sheaf " SHEAF_VERSION "\n"});
    } catch (const CLI::ParseError& error) {
      return std::unexpected(complaint(error));
    }
    const CommandRow* const row = find_command(name());
    if (row == nullptr) return std::unexpected(wrong_command());
    return taken(*row);
  }

 private:
  void add_options(CLI::App& app, std::span<const OptionRow> rows) {
    for (const OptionRow& row : rows) {
      const std::string name(row.name);
      if (name == "--help") continue;
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

  // The command that was read, as far as it was.
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
          refusal(std::string(row.name) + " wants " + what + extra + ".", row.name));
    }
    take_options(app_, global_options(), line);
    take_options(command(), row.options, line);
    return line;
  }
  void take_options(const CLI::App& app, std::span<const OptionRow> rows, ParsedLine& line) const {
    for (const OptionRow& row : rows) {
      const std::string name(row.name);
      if (name == "--help" || app.count(name) == 0) continue;
      line.options[name] = row.value.empty() ? "" : unguard(values_.at(name));
    }
  }

  static std::string quoted(std::string_view word) { return "\"" + printable(word) + "\""; }

  // No command, or half of one.
  EarlyExit wrong_command() const {
    const std::string begun = name();
    std::vector<std::string_view> known;
    for (const CommandRow& row : command_table()) {
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
                         quoted(word) + "." + did_you_mean(word, known),
                     begun);
    }
    std::string all;
    for (const std::string_view each : known) all.append(all.empty() ? "" : ", ").append(each);
    return refusal(begun + " needs one of: " + all + ".", begun);
  }
  // One that stands where a command is missing.
  static EarlyExit unknown_option(const std::string& word, const std::string& begun) {
    std::vector<std::string_view> known;
    for (const OptionRow& option : global_options()) known.push_back(option.name);
    const std::string name = word.substr(0, word.find('='));
    return refusal("There is no option " + quoted(name) + "." + did_you_mean(name, known), begun);
  }
  EarlyExit wrong_option(const CommandRow& row, const std::string& word) const {
    std::vector<std::string_view> known;
    for (const OptionRow& option : row.options) known.push_back(option.name);
    for (const OptionRow& option : global_options()) known.push_back(option.name);
    const std::string name = word.substr(0, word.find('='));
    return refusal(
        std::string(row.name) + " has no option " + quoted(name) + "." + did_you_mean(name, known),
        row.name);
  }

  // What is wrong with a command line that CLI11 does not read.
  EarlyExit complaint(const CLI::ParseError& error) const {
    const CommandRow* const row = find_command(name());
    const std::vector<std::string> extras = app_.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      if (row == nullptr) return wrong_command();
      if (!extras.empty()) return wrong_option(*row, unguard(extras.front()));
    }
    const std::string text = error.what();
    // "json was given a disallowed flag override"
    if (const std::size_t end = text.find(" was given a disallowed"); end != text.npos)
      return refusal("--" + text.substr(0, end) + " takes no value.", name());
    // "--ttl: At Most 1 required but received 2", "--ttl: 1 required TEXT missing"
    const std::string option = text.substr(0, text.find(':'));
    if (option.starts_with("--")) {
      if (text.find("At Most") != text.npos) return refusal(option + " is given twice.", name());
      return refusal(option + " needs a value.", name());
    }
    return refusal(printable(text, longest_text) + ".");
  }

  static constexpr std::size_t longest_text = 300;

  CLI::App app_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> words_;
};

LineParser::LineParser() : apps_(std::make_unique<Apps>()) {}
LineParser::~LineParser() = default;

std::expected<ParsedLine, EarlyExit> LineParser::parse(const std::vector<std::string>& words) {
  return apps_->parse(words);
}

}  // namespace sheaf::cli
