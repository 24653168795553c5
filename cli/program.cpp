#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/local_error.h"
#include "cli/command_list.h"
#include "cli/commands/command.h"
#include "cli/line/command_line.h"

namespace sheaf::cli {

namespace {

ExitCode run_command(const std::vector<std::string>& words, int in, Output& out) {
  const auto line = CommandLineParser(command_list()).parse(words);
  if (line) return line->row->run({command_list(), line->global, in, out}, line->words);
  const EarlyExit& end = line.error();
  if (end.code == ExitCode::done) {
    out.write(end.text);
    return end.code;
  }
  const bool json = std::ranges::find(words, "--json") != words.end();
  return complain_about(local_error(Outcome::invalid, Reason::bad_argument, end.text), json, out);
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& words, int in, Output& out) {
  const ExitCode code = run_command(words, in, out);
  if (out.flush()) return code;
  // The reader has seen enough, as `head` does: no reason to complain.
  if (out.error() == EPIPE) return ExitCode::closed_pipe;
  complain("cannot write to standard output: " + std::generic_category().message(out.error()) +
           ".");
  return ExitCode::failed;
}

}  // namespace sheaf::cli
