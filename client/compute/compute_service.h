#pragma once

// ComputeService: what the computations of one client share.
//
// Thread rule: the functions from any thread; the members as marked.

#include <chrono>
#include <string>
#include <string_view>

#include <sheaf/async.h>
#include <sheaf/move_only_function.h>
#include <sheaf/options.h>

#include "base/random.h"
#include "client/calls/detached.h"
#include "client/calls/procedure_host.h"
#include "client/compute/single_flight.h"
#include "client/runtime/context.h"

namespace sheaf::client::compute {

struct ComputeService {
  ComputeService(runtime::Context& its_context, calls::ProcedureHost& its_procedures,
                 const Seed& seed)
      : context(its_context), procedures(its_procedures), random(seed) {}

  // Under the baton.
  Now now() { return context.path().loop().now(); }

  runtime::Context& context;
  calls::ProcedureHost& procedures;
  SingleFlight flights;  // under the baton
  Random random;         // under the baton
};

// Implements Client::get_or_compute.
Result<Value> get_or_compute(ComputeService& service, std::string_view key,
                             const ComputeOptions& options,
                             const MoveOnlyFunction<std::string()>& compute);

// Implements AsyncClient::get_or_compute.
Call<Result<Value>> compute_later(calls::Origin origin, ComputeService& service,
                                  std::string_view key, const ComputeOptions& options,
                                  AsyncCompute compute);

}  // namespace sheaf::client::compute
