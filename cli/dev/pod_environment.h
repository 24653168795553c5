#pragma once

// The environment by which a program in a pod of Azure IoT Operations finds its broker
// (docs/configuration.md#environment), for a broker of `sheaf dev`.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf::cli {

struct PodSettings {
  std::string authorities;  // the path of a file; empty: without TLS
  std::string token;        // the path of a file; empty: without a login
};

// Each is "NAME=VALUE"; or NAME alone, for a variable that must not be set. The broker is at
// 127.0.0.1.
std::vector<std::string> pod_environment(const PodSettings& settings, std::uint16_t port);
// The options of a URI, with the question mark: "?tls_ca=...&token_file=...".
std::string pod_uri_options(const PodSettings& settings);
// The lines by which a shell takes such an environment.
std::vector<std::string> shell_lines(const std::vector<std::string>& environment);

}  // namespace sheaf::cli
