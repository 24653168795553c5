#pragma once

// A real memcached as a child process of a test (server_process.h), on any free port of 127.0.0.1
// unless the options name another address. The environment variable MEMCACHED_SERVER may name
// another program.
//
// Thread rule: that of ServerProcess.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/server_process.h"
#include "tests/support/wire.h"

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

  bool operator==(const MemcachedOptions&) const = default;
  bool has(std::string_view argument) const {
    return std::ranges::find(arguments, argument) != arguments.end();
  }
};

class MemcachedProcess : public ServerProcess {
 public:
  using Options = MemcachedOptions;

  // Starts the server and returns when it listens. Throws std::runtime_error with the server's log
  // if it does not start.
  explicit MemcachedProcess(MemcachedOptions options = {});

  const std::string& address() const { return options_.address; }
  std::uint16_t port() const { return port_; }
  std::string path() const { return (folder() / "s").string(); }  // with on_a_path
  void restart();  // after kill(): empty, on the same port, with the same options
  // Makes it as after a start, except that versions count further: no item, no count. `wire` is a
  // new connection. A server that speaks only the binary protocol still counts the items for a
  // while. Always true.
  bool forget(Wire& wire) const;
  bool speaks_tls() const { return options_.has("-Z"); }

 private:
  void write_users() const;
  bool launch();  // false: it ended, perhaps because the port was taken
  bool read_port();
  bool only_binary() const;
  bool accepts() const;  // on its path

  MemcachedOptions options_;
  std::uint16_t port_ = 0;
};

}  // namespace sheaf::test
