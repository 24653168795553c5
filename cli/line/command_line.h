#pragma once

// A command line, checked: the command and its words.
//
// Thread rule: plain values; nothing here prints, reads or connects.

#include <any>
#include <chrono>
#include <expected>
#include <string>
#include <vector>

#include "cli/line/parser.h"

namespace sheaf::cli {

// Options that may come before or after the command.
struct GlobalArguments {
  std::string servers;                       // --servers URI, empty if not given.
  std::string config;                        // --config FILE, empty if not given.
  std::string cluster;                       // --cluster NAME, empty if not given.
  std::string password_file;                 // --password-file FILE, empty if not given.
  bool ask_password = false;                 // --ask-password
  std::chrono::milliseconds timeout{3'000};  // --timeout: for each request.
  bool json = false;                         // --json
};

struct CommandLine {
  const CommandRow* row = nullptr;
  GlobalArguments global;
  std::any words;  // what row->read made of the rest
};

// Parses any number of command lines, each as if it were the first.
//
// Thread rule: one thread at a time.
class CommandLineParser {
 public:
  explicit CommandLineParser(CommandTable table) : lines_(table) {}

  // `words` are the arguments after the program's name; any bytes are allowed in keys and values.
  std::expected<CommandLine, EarlyExit> parse(const std::vector<std::string>& words);

 private:
  LineParser lines_;
};

}  // namespace sheaf::cli
