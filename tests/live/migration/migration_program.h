#pragma once

// `sheaf migrate` as a child process of a test; a file takes its output.
//
// Thread rule: one thread.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sheaf::test {

class MigrationProgram {
 public:
  // `program` is the path of sheaf, `words` are the arguments after "migrate". `printed` is
  // emptied.
  MigrationProgram(const char* program, const std::vector<std::string>& words, std::string printed)
      : printed_(std::move(printed)) {
    std::vector<std::string> all{program, "--json", "migrate"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    for (std::string& word : all) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, printed_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int error = posix_spawn(&pid_, program, &files, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::runtime_error("the program cannot be started");
  }
  ~MigrationProgram() {
    if (pid_ > 0) kill();
  }
  MigrationProgram(const MigrationProgram&) = delete;
  MigrationProgram& operator=(const MigrationProgram&) = delete;

  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  // Returns its exit code; 128 + n if a signal ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  // True if it has ended; wait() then has the code.
  bool ended() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid != 0;
  }
  std::string printed() const {
    std::stringstream text;
    text << std::ifstream(printed_).rdbuf();
    return text.str();
  }

 private:
  pid_t pid_ = -1;
  std::string printed_;
};

}  // namespace sheaf::test
