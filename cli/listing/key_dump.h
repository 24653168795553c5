#pragma once

// Lists the keys of one memcached server, with `lru_crawler metadump` (since 1.4.31). The list is
// from one moment or a little later; an item written meanwhile may or may not be in it.
//
// Thread rule: one thread.

#include <chrono>
#include <expected>
#include <functional>
#include <string>

#include <sheaf/cluster_config.h>

#include "cli/listing/dump_line.h"
#include "protocol/login.h"

namespace sheaf::cli {

struct DumpedServer {
  const ClusterConfig& config;  // how it is reached
  const NodeConfig& node;
  const protocol::Login* login = nullptr;  // for a server that requires one; null: none
};

// Calls `take` for each item. `patience` bounds the connect and each wait for more of the list. The
// error is one sentence that names the server. If `take` returns false, the list ends early,
// without an error.
std::expected<void, std::string> dump_keys(const DumpedServer& server,
                                           std::chrono::milliseconds patience,
                                           const std::function<bool(DumpedItem item)>& take);

}  // namespace sheaf::cli
