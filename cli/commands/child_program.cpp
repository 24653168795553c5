#include "cli/commands/child_program.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/text.h"

namespace sheaf::cli {

namespace {

constexpr std::array passed_signals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

PassedSignals::PassedSignals() : blocked_({SIGCHLD}, passed_signals) {}

PassedSignals::~PassedSignals() {
  while (take().number != 0) {
  }
}

int ChildProgram::start(const std::vector<std::string>& words, std::vector<std::string> changes,
                        const sigset_t& mask) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto changed = [&changes](std::string_view variable) {
    return std::ranges::any_of(
        changes, [&](const std::string& each) { return name_of(each) == name_of(variable); });
  };
  std::vector<char*> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!changed(*each)) variables.push_back(*each);
  }
  for (std::string& each : changes) {
    if (each.contains('=')) variables.push_back(each.data());
  }
  variables.push_back(nullptr);

  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t usual;  // this program ignores SIGPIPE
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setsigmask(&how, &mask);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const int error =
      posix_spawnp(&pid_, arguments.front(), nullptr, &how, arguments.data(), variables.data());
  posix_spawnattr_destroy(&how);
  return error;
}

std::optional<int> ChildProgram::take_end() {
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ExitCode ChildProgram::not_started(const Call& call, std::string_view program, int error) {
  fail(call, printable(program) +
                 " could not be started: " + std::generic_category().message(error) + ".");
  return static_cast<ExitCode>(error == ENOENT ? 127 : 126);
}

}  // namespace sheaf::cli
