#pragma once

// LockService: what the locks of one client share.
//
// Thread rule: any thread, as its parts.
// Lifetime: lockers and guards share the client's, and may outlive the Client.

#include <memory>

#include <sheaf/client.h>

#include "client/calls/procedure_host.h"
#include "client/lock/release_backoff.h"
#include "client/runtime/context.h"

namespace sheaf::client::lock {

struct LockService {
  runtime::Context& context;
  calls::ProcedureHost& procedures;
  ReleaseBackoff backoff{};
};

// That of a client.
std::shared_ptr<LockService> service_of(const Client& client);

}  // namespace sheaf::client::lock
