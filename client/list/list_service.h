#pragma once

// ListService: what the lists of one client share.
//
// Thread rule: any thread, but the board under the baton.
// Lifetime: lists share the client's, and may outlive the Client.

#include "client/calls/procedure_host.h"
#include "client/list/board.h"
#include "client/runtime/context.h"

namespace sheaf::client::list {

struct ListService {
  ListService(runtime::Context& its_context, calls::ProcedureHost& its_procedures, Seed seed)
      : context(its_context),
        procedures(its_procedures),
        board(procedures, context.config(), seed) {}

  runtime::Context& context;
  calls::ProcedureHost& procedures;
  Board board;
};

}  // namespace sheaf::client::list
