#pragma once

// ComputeService: what the computations of one client share.
//
// Thread rule: any thread, as its parts.

#include <functional>
#include <string>
#include <string_view>

#include <sheaf/options.h>

#include "client/calls/procedure_host.h"
#include "client/compute/single_flight.h"
#include "client/runtime/context.h"

namespace sheaf::client::compute {

struct ComputeService {
  ComputeService(runtime::Context& its_context, calls::ProcedureHost& its_procedures,
                 const Seed& seed)
      : context(its_context), procedures(its_procedures), single_flight(seed) {}

  runtime::Context& context;
  calls::ProcedureHost& procedures;
  SingleFlight single_flight;
};

// As Client::get_or_compute.
Result<Value> get_or_compute(ComputeService& service, std::string_view key,
                             const ComputeOptions& options,
                             const std::function<std::string()>& compute);

}  // namespace sheaf::client::compute
