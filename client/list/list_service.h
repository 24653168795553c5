#pragma once

// ListService: what the lists of one client share.
//
// Thread rule: any thread; the registry only under the baton.
// Lifetime: lists share the ownership of their client's service, and may outlive the Client.

#include <memory>

#include <sheaf/client.h>

#include "client/calls/procedure_host.h"
#include "client/list/list_registry.h"
#include "client/runtime/context.h"

namespace sheaf::client::list {

struct ListService {
  ListService(runtime::Context& its_context, calls::ProcedureHost& its_procedures, Seed seed)
      : context(its_context),
        procedures(its_procedures),
        registry(procedures, context.config(), seed) {}

  runtime::Context& context;
  calls::ProcedureHost& procedures;
  ListRegistry registry;
};

std::shared_ptr<ListService> service_of(const Client& client);

}  // namespace sheaf::client::list
