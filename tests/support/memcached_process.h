#pragma once

// A real memcached as a child process of a test: a free port on 127.0.0.1 unless the options name
// another, a temporary folder for its users and its log, gone with the object (and with the test
// process, however that ends).
//
// Thread rule: one thread at a time, and that thread must live as long as the server: Linux sends
// the parent-death signal when the thread that forked ends.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sheaf::test {

struct MemcachedOptions {
  enum class LogIn : std::uint8_t {
    none,
    sasl,  // -S: binary only
    text   // -Y: text only
  };
  LogIn log_in = LogIn::none;
  std::vector<std::pair<std::string, std::string>> users;  // name, password
  std::vector<std::string> arguments;                      // further ones: {"-c", "4"}
  std::string address = "127.0.0.1";                       // numeric, of this machine
  std::uint16_t port = 0;                                  // 0: any free one
};

class MemcachedProcess {
 public:
  // Starts the server and returns when it listens. Throws std::runtime_error with the server's log
  // if it does not start.
  explicit MemcachedProcess(MemcachedOptions options = {});
  ~MemcachedProcess();
  MemcachedProcess(const MemcachedProcess&) = delete;
  MemcachedProcess& operator=(const MemcachedProcess&) = delete;

  std::uint16_t port() const { return port_; }
  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  // Everything the server has logged since the object was made.
  std::string log() const;

  void kill();     // SIGKILL; returns when the process is gone, and its values with it
  void stop();     // SIGSTOP; returns when the process stands still
  void resume();   // SIGCONT
  void restart();  // after kill(): empty, the same port and options

 private:
  struct Deferred {};
  MemcachedProcess(MemcachedOptions options, Deferred);

  void write_users() const;
  bool launch();  // false: the port was taken
  void spawn();
  bool wait_for_start();
  void reap();

  MemcachedOptions options_;
  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace sheaf::test
