// get_or_compute, for a caller that waits and computes on its own stack and for one that does
// neither. Both join the same flight of their client; the plans coordinate with other processes.

#include <utility>

#include <sheaf/move_only_function.h>

#include "base/read_clocks.h"
#include "client/calls/call.h"
#include "client/compute/compute_call.h"
#include "client/compute/compute_service.h"
#include "client/compute/compute_works.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::compute {
namespace {

using calls::Form;
using Compute = MoveOnlyFunction<std::string()>;

constexpr std::chrono::milliseconds longest_lease = std::chrono::hours(24);

std::optional<Error> check(std::string_view key, const ComputeOptions& options, bool has_function) {
  if (auto wrong = calls::first_of(calls::check_key(key), calls::check_ttl(options.ttl))) {
    return wrong;
  }
  if (!options.lease.valid() || options.lease.milliseconds() > longest_lease) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "the lease must be 1 ms to 24 h");
  }
  if (!has_function) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "there is no function to compute the value");
  }
  return std::nullopt;
}

// Does not set the guard's holder: the claiming caller draws it.
Terms terms_of(const runtime::Context& context, std::string_view key, const ComputeOptions& options,
               std::shared_ptr<void> parent) {
  const ClusterConfig& config = context.config();
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  Terms terms;
  terms.key = key;
  terms.guard = guard_of(key);
  terms.lease = options.lease.milliseconds();
  terms.ttl = calls::effective_ttl(options.ttl, config);
  terms.leases = traits.has_leases && !options.lease_beside;
  terms.versions = traits.compares == protocol::Compares::versions;
  terms.longest_value = config.value_limit;
  terms.parent = std::move(parent);
  return terms;
}

// The computed value is returned whether or not it can be stored.
Value settle(ComputeService& service, const Terms& terms, const ComputeOptions& options,
             Right right, std::optional<std::string> made) {
  runtime::Context& context = service.context;
  if (context.refusal(true)) return {std::move(made).value_or(std::string()), {}, 0};
  const Deadline due = context.deadline(read_monotonic(), options.timeout);
  return calls::Blocking<SettleRight>(context.lane(), calls::HowToWait(), service, terms,
                                      std::move(right), std::move(made), due)
      .wait(options.stop);
}

// For a claim without a right.
struct ValueOf {
  Result<Value> operator()(Result<Claim> claim) const {
    return std::move(claim).transform(value_of);
  }
};

}  // namespace

Result<Value> get_or_compute(ComputeService& service, std::string_view key,
                             const ComputeOptions& options, const Compute& compute) {
  runtime::Context& context = service.context;
  const Deadline started = read_monotonic();
  if (auto wrong = check(key, options, compute != nullptr)) return Failure(std::move(*wrong));
  auto got = calls::call<runtime::GetOp>(context,
                                         calls::get_request(key, {options.timeout, options.stop}));
  if (!got) return Failure(std::move(got.error()));
  if (*got) return std::move(**got);
  const Terms terms = terms_of(context, key, options, context.observed_parent());
  const JoinTimes times{started, context.deadline(started, options.timeout)};
  auto claim = calls::Blocking<JoinFlight>(context.lane(), calls::HowToWait(), service, terms,
                                           times, Form::blocking)
                   .wait(options.stop);
  if (!claim) return Failure(std::move(claim.error()));
  if (!claim->right) return value_of(std::move(*claim));
  std::optional<std::string> made;
  try {
    made = compute();
  } catch (...) {
    settle(service, terms, options, std::move(*claim->right), std::nullopt);
    throw;
  }
  return settle(service, terms, options, std::move(*claim->right), std::move(made));
}

Call<Result<Value>> compute_later(calls::Origin origin, ComputeService& service,
                                  std::string_view key, const ComputeOptions& options,
                                  AsyncCompute compute) {
  return calls::prepare<Result<Value>, ComputeCall>(
      std::move(origin), options.stop,
      [&service, key = std::string(key), options = options, compute = std::move(compute)](
          runtime::Context& context, Stop stop, auto way) mutable {
        const auto admitted = calls::admit(context, way.form, options.timeout, stop,
                                           check(key, options, compute != nullptr));
        if (!admitted) return way.refuse(context, admitted.error());
        auto request = calls::get_request(key, {options.timeout, stop});
        request.operation.deadline = admitted->deadline;
        way.template run<ComputeCall>(context, stop, ValueOf(), service, request, *admitted,
                                      terms_of(context, key, options, admitted->parent),
                                      std::move(compute));
      });
}

}  // namespace sheaf::client::compute
