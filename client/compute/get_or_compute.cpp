// get_or_compute: the thread that asks, the single flight that it shares with other threads of its
// process, and the plans that agree with other processes.

#include "base/read_clocks.h"
#include "client/calls/call.h"
#include "client/calls/procedure_call.h"
#include "client/compute/compute_plan.h"
#include "client/compute/compute_service.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::compute {
namespace {

using Turn = SingleFlight::Waiter::Turn;
using Compute = std::function<std::string()>;

constexpr std::chrono::milliseconds longest_lease = std::chrono::hours(24);

std::optional<Error> check(std::string_view key, const ComputeOptions& options,
                           const Compute& compute) {
  if (auto wrong = calls::first_of(calls::check_key(key), calls::check_ttl(options.ttl))) {
    return wrong;
  }
  if (!options.lease.valid() || options.lease.milliseconds() > longest_lease) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "the lease must be 1 ms to 24 h");
  }
  if (compute == nullptr) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "there is no function to compute the value");
  }
  return std::nullopt;
}

// One call that found the key absent.
class Caller {
 public:
  Caller(ComputeService& service, std::string_view key, const ComputeOptions& options,
         Deadline started)
      : service_(service),
        context_(service.context),
        options_(options),
        started_(started),
        due_(context_.deadline(started, options.timeout)),
        seed_(service.single_flight.seed()) {
    const protocol::EndpointTraits& traits = protocol::traits_of(context_.config().kind);
    Random random(seed_);
    terms_.key = key;
    terms_.guard = guard_of(key);
    terms_.holder = random.hex(16);
    terms_.lease = options.lease.milliseconds();
    const std::optional<Ttl>& ttl = options.ttl ? options.ttl : context_.config().default_ttl;
    if (ttl) terms_.ttl = ttl->milliseconds();
    terms_.leases = traits.has_leases && !options.lease_beside;
    terms_.versions = traits.compares == protocol::Compares::versions;
    seed_ = random.fork();
  }

  Result<Value> run(const Compute& compute) {
    SingleFlight::Waiter waiter(service_.single_flight, terms_.key);
    switch (waiter.wait(due_, options_.stop)) {
      case Turn::finished:
        return waiter.value();
      case Turn::timed_out:
        return not_done(Reason::timed_out,
                        "another thread computes the value and was not done in time");
      case Turn::cancelled:
        return not_done(Reason::cancelled, "another thread computes the value");
      case Turn::leader:
        break;
    }
    auto value = lead(compute);
    if (value) waiter.finish(*value);
    return value;
  }

 private:
  Result<Value> lead(const Compute& compute) {
    auto claim = calls::run_procedure(context_, service_.procedures,
                                      std::make_unique<ClaimPlan>(terms_, started_, due_, seed_),
                                      options_.stop);
    if (!claim) return Failure(std::move(claim.error()));
    if (claim->value) return std::move(*claim->value);
    std::optional<std::string> made;
    try {
      made = compute();
    } catch (...) {
      settle(std::move(*claim->right), std::nullopt);
      throw;
    }
    if (calls::check_value(*made, context_.config())) {  // too large to be stored
      settle(std::move(*claim->right), std::nullopt);
      return Value{std::move(*made), {}, 0};
    }
    return settle(std::move(*claim->right), std::move(made));
  }

  Value settle(Right right, std::optional<std::string> made) {
    const Deadline due = context_.deadline(read_monotonic(), options_.timeout);
    if (context_.refusal(true)) return {std::move(made).value_or(std::string()), {}, 0};
    return calls::run_procedure(
        context_, service_.procedures,
        std::make_unique<SettlePlan>(terms_, std::move(right), std::move(made), due),
        options_.stop);
  }

  Result<Value> not_done(Reason reason, std::string text) const {
    Error error = runtime::local_error(Outcome::not_sent, reason, std::move(text));
    error.elapsed = read_monotonic() - started_;
    return Failure(std::move(error));
  }

  ComputeService& service_;
  runtime::Context& context_;
  const ComputeOptions& options_;
  Deadline started_;
  Deadline due_;
  Seed seed_;
  Terms terms_;
};

}  // namespace

Result<Value> get_or_compute(ComputeService& service, std::string_view key,
                             const ComputeOptions& options, const Compute& compute) {
  const Deadline started = read_monotonic();
  if (auto wrong = check(key, options, compute)) return Failure(std::move(*wrong));
  auto got = calls::call<runtime::GetOp>(service.context,
                                         calls::get_request(key, {options.timeout, options.stop}));
  if (!got) return Failure(std::move(got.error()));
  if (*got) return std::move(**got);
  return Caller(service, key, options, started).run(compute);
}

}  // namespace sheaf::client::compute
