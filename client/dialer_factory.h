#pragma once

// How the nodes of a cluster are reached: TCP, or the engines in this process.

#include <sheaf/cluster_config.h>

#include "socket/uv_loop.h"

#include <memory>

namespace sheaf::client {

Result<std::unique_ptr<socket::Dialer>> make_dialer(const ClusterConfig& config,
                                                    socket::UvLoop& loop);

}  // namespace sheaf::client
