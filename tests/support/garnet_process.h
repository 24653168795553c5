#pragma once

// A real garnet-server as a child process of a test.
//
// Thread rule: that of ServerProcess.

#include <string>
#include <vector>

#include "tests/support/resp_process.h"

namespace sheaf::test {

class GarnetProcess final : public RespProcess {
 public:
  // Starts the server and returns when it accepts connections. Throws std::runtime_error with the
  // server's log if it does not start.
  explicit GarnetProcess(RespProcessOptions options = {});

  // Garnet has no second port.
  std::uint16_t bus_port() const override { return port(); }

 private:
  bool launch() override;
  std::vector<std::string> command() const;

  bool started_before_ = false;
};

}  // namespace sheaf::test
