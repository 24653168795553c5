#include "cli/dev/resp_files.h"

#include "cli/dev/programs.h"

namespace sheaf::cli {

namespace fs = std::filesystem;

std::expected<fs::path, std::string> find_resp_server(const ServerTraits& kind,
                                                      const std::string& given,
                                                      std::string_view path) {
  const std::string program = kind.program;
  return find_program({.name = program,
                       .given = given,
                       .path = path,
                       .places = {"/usr/bin", "/usr/local/bin"},
                       .advice = program +
                                 " is neither in PATH nor in /usr/bin or /usr/local/bin; "
                                 "install it (" +
                                 kind.install + ") or name it with " + kind.named_by + "."});
}

// Replicas made while the cluster is formed need not wait for each other. A server that is silent
// for 5 s is replaced: soon enough for a developer, and late enough for a slow machine.
std::vector<std::string> redis_arguments(RespPorts ports, const fs::path& folder, bool verbose) {
  return {"--port",
          std::to_string(ports.port),
          "--bind",
          "127.0.0.1",
          "--dir",
          folder.string(),
          "--save",
          "",
          "--cluster-enabled",
          "yes",
          "--cluster-port",
          std::to_string(ports.bus),
          "--cluster-node-timeout",
          "5000",
          "--repl-diskless-sync-delay",
          "0",
          "--loglevel",
          verbose ? "verbose" : "notice"};
}

// Garnet's default device needs libaio. Without vector sets Garnet cannot migrate whole slots. With
// only as many threads as processors it answers no request for seconds while slots move.
std::vector<std::string> garnet_arguments(std::uint16_t port, const fs::path& folder,
                                          bool verbose) {
  return {"--port",
          std::to_string(port),
          "--bind",
          "127.0.0.1",
          "--memory",
          "256m",
          "--index",
          "16m",
          "--cluster",
          "--aof",
          "--gossip-delay",
          "1",
          "--checkpointdir",
          folder.string(),
          "--device-type",
          "RandomAccess",
          "--enable-vector-set-preview",
          "--minthreads",
          "64",
          "--logger-level",
          verbose ? "Information" : "Warning"};
}

}  // namespace sheaf::cli
