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

namespace sheaf::cli {

// Calls `take` for each key. `patience` bounds the connect and each wait for more of the list. The
// error is one sentence that names the server. If `take` returns false, the list ends early,
// without an error.
std::expected<void, std::string> dump_keys(const NodeConfig& server,
                                           std::chrono::milliseconds patience,
                                           const std::function<bool(std::string key)>& take);

}  // namespace sheaf::cli
