#pragma once

// Calls about nodes instead of keys; see the members of Client with the same names.
//
// Thread rule: any thread; all but locate() block.

#include <functional>
#include <string_view>
#include <vector>

#include <sheaf/client_options.h>
#include <sheaf/metrics.h>
#include <sheaf/options.h>
#include <sheaf/stats.h>

#include "client/calls/detached.h"
#include "client/runtime/context.h"
#include "protocol/operation.h"

namespace sheaf::client::calls {

Result<std::vector<ClusterServer>> cluster_servers(runtime::Context& context,
                                                   const Timeout& timeout, Stop stop = nullptr);
Result<Location> locate(const runtime::Context& context, std::string_view key);
std::vector<NodeStats> node_stats(runtime::Context& context);
// `more`: see Context::metrics.
Metrics metrics(runtime::Context& context, const std::function<void(Metrics&)>& more);
std::vector<NodeReport> check_nodes(runtime::Context& context, const NodesOptions& options);
Call<std::vector<NodeReport>> check_nodes_later(Origin origin, const NodesOptions& options);
// Asks every server for some text about itself.
std::vector<NodeText> ask_for_texts(runtime::Context& context, protocol::Verb verb,
                                    std::string_view key, const NodesOptions& options);
Call<std::vector<NodeText>> ask_for_texts_later(Origin origin, protocol::Verb verb,
                                                std::string_view key, const NodesOptions& options);

}  // namespace sheaf::client::calls
