#pragma once

// WatchService: what the watches of one client share.
//
// Thread rule: any thread, but hub and roster under the baton.
// Lifetime: watches share the client's, and may outlive the Client.

#include <memory>
#include <span>
#include <string_view>

#include "client/runtime/context.h"
#include "client/watch/watch_hub.h"
#include "client/watch/watch_session.h"

namespace sheaf::client::watch {

struct WatchService {
  WatchService(runtime::Context& its_context, Seed seed, const WatchHubOptions& options)
      : context(its_context), hub(context.path().loop(), context.cluster(), seed, options) {}

  runtime::Context& context;
  WatchHub hub;
  WatchRoster roster;
};

// As Client::watch.
Result<std::shared_ptr<Watch::Session>> open_session(const std::shared_ptr<WatchService>& service,
                                                     std::span<const std::string_view> keys,
                                                     const WatchOptions& options,
                                                     WatchCallback callback);

}  // namespace sheaf::client::watch
