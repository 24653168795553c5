#pragma once

// RespProcess: a server of the Redis protocol as a child process of a test (server_process.h), on
// reserved ports of 127.0.0.1, unless its options say otherwise. The base of RedisProcess and
// GarnetProcess.
//
// Thread rule: that of ServerProcess.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/reserved_port.h"
#include "tests/support/server_process.h"

namespace sheaf::test {

struct RespProcessOptions {
  bool cluster = false;
  // The login that clients need. Without a user it is the password of the default user; without a
  // password every client may do everything.
  std::string user;
  std::string password;
  bool persistent = false;             // data outlives a restart
  std::string address = "127.0.0.1";   // of this machine
  std::uint16_t port = 0;              // 0: a free one; else the same after every restart
  std::vector<std::string> arguments;  // more arguments

  bool operator==(const RespProcessOptions&) const = default;
};

class RespProcess : public ServerProcess {
 public:
  virtual ~RespProcess() = default;

  std::uint16_t port() const { return options_.port != 0 ? options_.port : port_.number(); }
  // The port for other servers of its cluster.
  virtual std::uint16_t bus_port() const = 0;
  const RespProcessOptions& options() const { return options_; }

  using ServerProcess::terminate;
  // After kill() or terminate(): the same options, and the contents of its folder.
  void restart() {
    expect_ended();
    start([this] { return launch(); }, [] {});
  }
  // After both have ended: each starts at the other's port for clients from now on.
  void exchange_ports(RespProcess& other) {
    expect_ended();
    other.expect_ended();
    std::swap(port_, other.port_);
  }
  // The same on other ports.
  void restart_elsewhere() {
    expect_ended();
    change_ports();
    start_anywhere();
  }

 protected:
  RespProcess(std::string name, RespProcessOptions options)
      : ServerProcess(std::move(name)), options_(std::move(options)) {}

  // Starts the server, on other ports if another process has taken the reserved ones. Returns when
  // the server answers; throws std::runtime_error with its log.
  void start_anywhere() {
    start([this] { return launch(); }, [this] { change_ports(); });
  }
  virtual bool launch() = 0;  // false: it ended
  virtual void change_ports() { port_ = ReservedPort(); }

 private:
  RespProcessOptions options_;
  ReservedPort port_;
};

}  // namespace sheaf::test
