#pragma once

// A real garnet-server as a child process of a test: the one that the environment variable
// GARNET_SERVER names, or the one in PATH. Where there is none, a test that wants one is skipped
// and says so:
//
//   if (!garnet_server()) GTEST_SKIP() << no_garnet;
//
// Thread rule: that of ServerProcess.

#include <optional>
#include <string>

#include "tests/support/resp_process.h"

namespace sheaf::test {

inline constexpr const char* no_garnet =
    "no garnet-server: it is neither in PATH nor named by GARNET_SERVER";

// The path of the program.
std::optional<std::string> garnet_server();

class GarnetProcess final : public RespProcess {
 public:
  // Starts the server and returns when it accepts connections. Throws std::runtime_error with the
  // server's log if it does not start.
  explicit GarnetProcess(RespProcessOptions options = {});

  // It has no second port.
  std::uint16_t bus_port() const override { return port(); }

 private:
  bool launch() override;
  std::vector<std::string> command() const;

  bool started_before_ = false;
};

}  // namespace sheaf::test
