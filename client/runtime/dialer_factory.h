#pragma once

// How the nodes of a cluster are reached: TCP, TLS, or the engines in this process.

#include <memory>

#include <sheaf/cluster_config.h>

#include "socket/uv/uv_loop.h"

namespace sheaf::client::runtime {

Result<std::unique_ptr<socket::Dialer>> make_dialer(const ClusterConfig& config,
                                                    socket::UvLoop& loop);

}  // namespace sheaf::client::runtime
