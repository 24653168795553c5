#pragma once

// A real redis-server or valkey-server as a child process of a test. The table of resp_software.h
// has the differences between the two.
//
// Thread rule: that of ServerProcess.

#include "tests/support/resp_process.h"
#include "tests/support/resp_software.h"
#include "tests/support/wire.h"

namespace sheaf::test {

struct RedisOptions : RespProcessOptions {
  RespSoftware software = usual_software();  // or the other of the two
  std::uint16_t replica_of = 0;              // a port of 127.0.0.1; not in a cluster
  std::vector<std::string> lines;       // more lines of redis.conf: "user reader on nopass +get"
  std::vector<std::string> tls;         // likewise: its port serves TLS
  std::vector<std::string> tls_beside;  // likewise: a TLS port in addition to its port

  bool operator==(const RedisOptions&) const = default;
};

class RedisProcess final : public RespProcess {
 public:
  using Options = RedisOptions;

  // Starts the server and returns when it accepts connections. Throws std::runtime_error with the
  // server's log if it does not start.
  explicit RedisProcess(RedisOptions options = {});

  std::uint16_t bus_port() const override { return bus_port_.number(); }
  // Only with tls_beside.
  std::uint16_t tls_port() const { return tls_port_.number(); }
  // Makes it as after a start: no key, script or count, and its log begins again. `wire` is a new
  // connection. False if that cannot be done, because somebody has changed its configuration or
  // users since the first call.
  bool forget(Wire& wire);
  bool speaks_tls() const { return !tls_.empty(); }

 private:
  bool launch() override;
  void change_ports() override;
  void write_configuration() const;

  RespSoftware software_;
  std::uint16_t replica_of_;
  std::vector<std::string> lines_;
  std::vector<std::string> tls_;
  std::vector<std::string> tls_beside_;
  ReservedPort bus_port_;
  ReservedPort tls_port_;
  std::string settings_;  // the configuration and the users at the first forget()
};

}  // namespace sheaf::test
