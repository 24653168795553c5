#pragma once

// RespProcess: a server of the Redis protocol as a child process of a test (server_process.h), on
// reserved ports of 127.0.0.1. The base of RedisProcess and GarnetProcess.
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
  // What clients must log in with. Without a user it is the password of the default user, without a
  // password everyone may do everything.
  std::string user;
  std::string password;
  bool persistent = false;             // what was written outlives a restart
  std::vector<std::string> arguments;  // further ones
};

class RespProcess : public ServerProcess {
 public:
  virtual ~RespProcess() = default;

  std::uint16_t port() const { return port_.number(); }
  // Where other servers of its cluster reach it.
  virtual std::uint16_t bus_port() const = 0;
  const RespProcessOptions& options() const { return options_; }

  using ServerProcess::terminate;
  // After kill() or terminate(): the same options, and what it kept in its folder.
  void restart() {
    expect_ended();
    start([this] { return launch(); }, [] {});
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

  // On other ports, if those that were reserved are taken nevertheless. Returns when the server can
  // be asked; throws std::runtime_error with its log.
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
