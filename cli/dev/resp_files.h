#pragma once

// Development servers of the Redis protocol: where their programs are, and how they are started as
// members of a cluster.
//
// Thread rule: functions without state.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/server_kind.h"

namespace sheaf::cli {

// `given` (from the variable that may name the program) if not empty, else the kind's program in
// the folders of `path` (as in PATH), /usr/bin and /usr/local/bin. The error is one sentence.
std::expected<std::filesystem::path, std::string> find_resp_server(const ServerTraits& kind,
                                                                   const std::string& given,
                                                                   std::string_view path);

struct RespPorts {
  std::uint16_t port = 0;
  std::uint16_t bus = 0;  // for the other servers
};
// The arguments for Redis and Valkey, and for Garnet. The server's files are in `folder`.
std::vector<std::string> redis_arguments(RespPorts ports, const std::filesystem::path& folder,
                                         bool verbose);
std::vector<std::string> garnet_arguments(std::uint16_t port, const std::filesystem::path& folder,
                                          bool verbose);

}  // namespace sheaf::cli
