#pragma once

// LockService: what the locks of one client share.
//
// Thread rule: any thread, as for its parts.
// Lifetime: lockers and guards share the ownership of their client's service, and may outlive the
// Client.

#include <memory>

#include <sheaf/client.h>

#include "client/calls/procedure_host.h"
#include "client/lock/lock_memory.h"
#include "client/runtime/context.h"

namespace sheaf::client::lock {

struct LockService {
  runtime::Context& context;
  calls::ProcedureHost& procedures;
  LockMemory memory{};
};

std::shared_ptr<LockService> service_of(const Client& client);

}  // namespace sheaf::client::lock
