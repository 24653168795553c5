// help, completion, man: what the program says about itself.

#include "cli/commands/command.h"
#include "cli/line/help.h"
#include "cli/line/program_words.h"

namespace sheaf::cli {

namespace {

ExitCode run_help(const Call& call, const HelpWords& words) {
  call.out.write(help_of(call.table, words.name));
  return ExitCode::done;
}

ExitCode run_completion(const Call& call, const CompletionWords& words) {
  call.out.write(completion_script(call.table, words.shell).value());
  return ExitCode::done;
}

ExitCode run_man(const Call& call, const NoWords&) {
  call.out.write(manual_page(call.table));
  return ExitCode::done;
}

}  // namespace

CommandRow help_command() {
  return command<read_help_words, run_help>(
      {.name = "help",
       .group = group::program,
       .arguments = "[COMMAND...]",
       .purpose = "print this help, or the help of a command or of the global options",
       .text =
           "sheaf help options lists the global options, the environment variables and the exit "
           "codes.",
       .examples = {"sheaf help set", "sheaf help options"},
       .completion = completes_commands_and("options")});
}

CommandRow completion_command() {
  return command<read_completion_words, run_completion>(
      {.name = "completion",
       .group = group::program,
       .arguments = "SHELL",
       .purpose = "print a completion script for bash, zsh or fish",
       .examples = {"source <(sheaf completion bash)", "sheaf completion fish | source"},
       .completion = completes_words("bash zsh fish")});
}

CommandRow man_command() {
  return command<read_no_words, run_man>(
      {.name = "man",
       .group = group::program,
       .purpose = "print the manual page",
       .examples = {"sheaf man | man -l -", "sheaf man >sheaf.1"},
       .completion = completes_nothing});
}

}  // namespace sheaf::cli
