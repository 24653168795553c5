#pragma once

// ServerProcess: a server as a child process of a test, which runs and logs in a temporary folder.
// The process ends with the object, and with the test process, however that ends. The base of
// BrokerProcess, MemcachedProcess, RedisProcess and GarnetProcess, which know what to start and
// when it is up.
//
// Thread rule: one thread at a time, and that thread must live as long as the server: Linux sends
// the parent-death signal when the thread that forked ends.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::test {

// How often a text is in a log.
inline std::size_t count_of(std::string_view log, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = log.find(text); at != log.npos; at = log.find(text, at + 1)) ++count;
  return count;
}

class ServerProcess {
 public:
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  const std::filesystem::path& folder() const { return folder_; }
  // False if it is not running or has ended on its own.
  bool lives() const;
  // True if it lives and is not stopped.
  bool responsive() const { return lives() && !stopped_; }
  // Everything that the server has logged since the object was constructed, or since its log began
  // again.
  std::string log() const { return whole_log().substr(log_begin_); }
  // How many sockets the process has open: those that listen, and its connections.
  std::size_t sockets() const;

  void kill();    // SIGKILL; returns when the process is gone
  void stop();    // SIGSTOP; returns when the process has stopped
  void resume();  // SIGCONT

 protected:
  // `name` is the program's name, for messages and the folder.
  explicit ServerProcess(std::string name);
  ~ServerProcess();

  struct Program {
    std::vector<std::string> command;        // the program's path and its arguments
    std::vector<std::string> environment{};  // NAME=VALUE, before those of this process
  };
  void spawn(Program program);
  // Returns true when `up` holds, and false when the process has ended on its own. After 60 s,
  // kills the process and throws std::runtime_error.
  bool wait_for_start(const std::function<bool()>& up);
  // Starts the server with `launch`, which calls the two functions above. If another process has
  // taken a port, tries again for 60 s, each time after `before_retry`. Throws on every other
  // failure.
  void start(const std::function<bool()>& launch, const std::function<void()>& before_retry);
  // Searches the log of the last process started.
  bool has_logged(std::string_view text) const;
  // For log(), the log begins here, or after the last line that is `line`. The latter returns what
  // is before.
  void begin_log() { log_begin_ = whole_log().size(); }
  std::string begin_log_after(std::string_view line);

  int terminate();  // SIGTERM; returns the exit status, 128 + signal if a signal ended it
  void send(int signal) const;                            // to the running process
  void expect_ended() const;                              // throws std::logic_error if it runs
  [[noreturn]] void fail(const std::string& what) const;  // std::runtime_error with name and log

 private:
  int reap();
  std::string whole_log() const;

  std::string name_;
  std::filesystem::path folder_;
  std::size_t log_start_ = 0;  // where the log of the last process started begins
  std::size_t log_begin_ = 0;  // where log() begins
  pid_t pid_ = -1;
  bool stopped_ = false;
};

}  // namespace sheaf::test
