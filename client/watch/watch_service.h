#pragma once

// WatchService: what the watches of one client share.
//
// Thread rule: any thread; both registries only under the baton.
// Lifetime: watches share the ownership of their client's service, and may outlive the Client.

#include <memory>
#include <span>
#include <string_view>

#include "client/runtime/context.h"
#include "client/watch/watch_registry.h"
#include "client/watch/watch_session.h"

namespace sheaf::client::watch {

struct WatchService {
  WatchService(runtime::Context& its_context, Seed seed, const WatchRegistryOptions& options)
      : context(its_context), registry(context.path().loop(), context.cluster(), seed, options) {}

  runtime::Context& context;
  WatchRegistry registry;
  SessionRegistry sessions;
};

// Implements Client::watch.
Result<std::shared_ptr<Watch::Session>> open_session(const std::shared_ptr<WatchService>& service,
                                                     std::span<const std::string_view> keys,
                                                     const WatchOptions& options,
                                                     WatchCallback callback);

}  // namespace sheaf::client::watch
