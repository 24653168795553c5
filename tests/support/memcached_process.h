#pragma once

// A real memcached as a child process of a test (server_process.h), on any free port of 127.0.0.1
// unless the options name another address. The environment variable MEMCACHED_SERVER may name
// another program.
//
// Thread rule: that of ServerProcess.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/server_process.h"

namespace sheaf::test {

struct MemcachedOptions {
  enum class LogIn : std::uint8_t {
    none,
    sasl,  // -S: binary only
    text   // -Y: text only
  };
  LogIn log_in = LogIn::none;
  std::vector<std::pair<std::string, std::string>> users;  // name, password
  std::vector<std::string> arguments;                      // more arguments: {"-c", "4"}
  std::string address = "127.0.0.1";                       // numeric, of this machine
  std::uint16_t port = 0;                                  // 0: any free port
  bool on_a_path = false;                                  // on a Unix socket, without a port
};

class MemcachedProcess : public ServerProcess {
 public:
  // Starts the server and returns when it listens. Throws std::runtime_error with the server's log
  // if it does not start.
  explicit MemcachedProcess(MemcachedOptions options = {});

  std::uint16_t port() const { return port_; }
  std::string path() const { return (folder() / "s").string(); }  // with on_a_path
  void restart();  // after kill(): empty, on the same port, with the same options

 private:
  void write_users() const;
  bool launch();  // false: it ended, perhaps because the port was taken
  bool read_port();
  bool accepts() const;  // on its path

  MemcachedOptions options_;
  std::uint16_t port_ = 0;
};

}  // namespace sheaf::test
