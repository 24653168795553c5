#include "tests/support/garnet_process.h"

#include <fstream>

#include "tests/support/resp_software.h"

namespace sheaf::test {

GarnetProcess::GarnetProcess(RespProcessOptions options)
    : RespProcess("garnet", std::move(options)) {
  start_anywhere();
}

bool GarnetProcess::launch() {
  if (!is_installed(RespSoftware::garnet)) fail(not_installed(RespSoftware::garnet));
  // Otherwise .NET puts sockets for debuggers into the temporary folder and leaves them there.
  spawn({command(), {"DOTNET_EnableDiagnostics=0"}});
  if (!wait_for_start([this] { return has_logged("Ready to accept connections"); })) return false;
  started_before_ = true;
  return true;
}

// The default device needs libaio. Without vector sets the migration of whole slots crashes. A
// write that waits for a migration occupies a thread, and so does a write to a file. .NET begins
// with one thread for each processor, so a machine with two has none left for seconds, and the
// server answers no one.
std::vector<std::string> GarnetProcess::command() const {
  std::vector<std::string> words = {*server_program(RespSoftware::garnet),
                                    "--port",
                                    std::to_string(port()),
                                    "--bind",
                                    options().address,
                                    "-m",
                                    "64m",
                                    "-i",
                                    "16m",
                                    "--checkpointdir",
                                    folder().string(),
                                    "--device-type",
                                    "RandomAccess",
                                    "--minthreads",
                                    "64",
                                    "--enable-vector-set-preview"};
  const auto add = [&](const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  if (options().cluster) add({"--cluster", "--gossip-delay", "1"});
  if (options().cluster || options().persistent) add({"--aof"});
  if (started_before_ && (options().cluster || options().persistent)) add({"--recover"});
  if (!options().user.empty()) {
    const std::string file = (folder() / "users.acl").string();
    std::ofstream(file) << "user default off\nuser " << options().user << " on >"
                        << options().password << " ~* +@all\n";
    add({"--auth", "ACL", "--acl-file", file});
  } else if (!options().password.empty()) {
    add({"--auth", "Password", "--password", options().password});
  }
  if (!options().password.empty() && options().cluster) {
    add({"--cluster-password", options().password});
    if (!options().user.empty()) add({"--cluster-username", options().user});
  }
  add(options().arguments);
  return words;
}

}  // namespace sheaf::test
