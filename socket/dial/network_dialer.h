#pragma once

// The way to the servers of a configuration: TCP, or TLS with its files and names.
//
// Thread rule: as the loop.

#include <memory>

#include <sheaf/cluster_config.h>
#include <sheaf/result.h>

#include "socket/uv/uv_loop.h"

namespace sheaf::socket {

// Errors: Outcome::invalid for TLS files that cannot be used, Outcome::unsupported for TLS in a
// build without it.
Result<std::unique_ptr<Dialer>> make_network_dialer(const ClusterConfig& config, UvLoop& loop);

}  // namespace sheaf::socket
