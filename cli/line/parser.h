#pragma once

// A command line as the rows describe it: the command, its options, its arguments. parser.cpp is
// the only file that uses CLI11.
//
// Thread rule: one thread at a time.

#include <cstddef>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/command_row.h"
#include "cli/system/exit_code.h"

namespace sheaf::cli {

struct ParsedLine {
  struct Argument {
    std::string text;
    bool literal = false;  // came after "--": "-" is not standard input
  };

  CommandTable table;
  const CommandRow* row = nullptr;
  std::map<std::string, std::string, std::less<>> options;  // those given; a flag's value is empty
  std::vector<Argument> arguments;                          // as many as the row allows

  bool has(std::string_view option) const { return options.contains(option); }
  // Empty if not given.
  std::string value(std::string_view option) const {
    const auto found = options.find(option);
    return found == options.end() ? std::string() : found->second;
  }
  // An argument; empty if not given.
  std::string text(std::size_t index) const {
    return index < arguments.size() ? arguments[index].text : std::string();
  }
  // True if the argument is "-", for standard input.
  bool is_stdin(std::size_t index) const { return text(index) == "-" && !arguments[index].literal; }
  // All arguments from this one on.
  std::vector<std::string> texts(std::size_t from = 0) const {
    std::vector<std::string> all;
    for (std::size_t i = from; i < arguments.size(); ++i) all.push_back(text(i));
    return all;
  }
};

// The program ends without running a command: after --help and --version (text for standard
// output), or because the command line is not allowed (one sentence for standard error).
struct EarlyExit {
  ExitCode code = ExitCode::usage;
  std::string text;
};

// Parses any number of command lines, each as if it were the first. Constructing a parser costs far
// more than parsing.
class LineParser {
 public:
  explicit LineParser(CommandTable table);
  ~LineParser();
  LineParser(const LineParser&) = delete;
  LineParser& operator=(const LineParser&) = delete;

  // `words` are the arguments after the program's name; keys and values may hold any bytes.
  std::expected<ParsedLine, EarlyExit> parse(const std::vector<std::string>& words);

 private:
  class Apps;
  std::unique_ptr<Apps> apps_;
};

}  // namespace sheaf::cli
