// Client::get_or_compute: the thread that asks, the flight it shares with others of its process,
// and the plans that agree with other processes.

#include <sheaf/client.h>

#include "base/read_clocks.h"
#include "client/calls/checks.h"
#include "client/calls/procedure_call.h"
#include "client/compute/compute_plan.h"
#include "client/compute/single_flight.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::BlockingProcedure;
using client::compute::ClaimPlan;
using client::compute::Right;
using client::compute::SettlePlan;
using client::compute::SingleFlight;
using client::compute::Terms;
using Turn = SingleFlight::Seat::Turn;

constexpr std::chrono::milliseconds longest_lease = std::chrono::hours(24);

std::optional<Error> check(std::string_view key, const ComputeOptions& options,
                           const Client::Compute& compute) {
  if (auto wrong = client::calls::first_of(client::calls::check_key(key),
                                           client::calls::check_ttl(options.ttl))) {
    return wrong;
  }
  if (!options.lease.valid() || options.lease.milliseconds() > longest_lease) {
    return client::runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                        "the lease must be 1 ms to 24 h");
  }
  if (compute == nullptr) {
    return client::runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                        "there is no function to compute the value");
  }
  return std::nullopt;
}

// One call that found the key absent.
class Caller {
 public:
  Caller(Client::Impl& impl, std::string_view key, const ComputeOptions& options, Deadline started)
      : impl_(impl),
        options_(options),
        started_(started),
        due_(impl.deadline(started, options.timeout)),
        seed_(impl.flights().seed()) {
    const bool memcached = impl.config().kind == EndpointKind::memcached;
    Random random(seed_);
    terms_.key = key;
    terms_.guard = client::compute::guard_of(key);
    terms_.holder = random.hex(16);
    terms_.lease = options.lease.milliseconds();
    const std::optional<Ttl>& ttl = options.ttl ? options.ttl : impl.config().default_ttl;
    if (ttl) terms_.ttl = ttl->milliseconds();
    terms_.leases = memcached && !options.lease_beside;
    terms_.versions = memcached;
    seed_ = random.fork();
  }

  Result<Value> run(const Client::Compute& compute) {
    SingleFlight::Seat seat(impl_.flights(), terms_.key);
    switch (seat.wait(std::max(due_ - read_monotonic(), Deadline(0)))) {
      case Turn::landed:
        return seat.value();
      case Turn::timed_out:
        return timed_out();
      case Turn::pilot:
        break;
    }
    auto value = lead(compute);
    if (value) seat.land(*value);
    return value;
  }

 private:
  Result<Value> lead(const Client::Compute& compute) {
    auto claim = BlockingProcedure<ClaimPlan>(
                     impl_, std::make_unique<ClaimPlan>(terms_, started_, due_, seed_))
                     .wait();
    if (!claim) return Failure(std::move(claim.error()));
    if (claim->value) return std::move(*claim->value);
    std::optional<std::string> made;
    try {
      made = compute();
    } catch (...) {
      settle(std::move(*claim->right), std::nullopt);
      throw;
    }
    if (client::calls::check_value(*made, impl_.config())) {  // too large to be stored
      settle(std::move(*claim->right), std::nullopt);
      return Value{std::move(*made), {}, 0};
    }
    return settle(std::move(*claim->right), std::move(made));
  }

  Value settle(Right right, std::optional<std::string> made) {
    const Deadline due = impl_.deadline(read_monotonic(), options_.timeout);
    if (impl_.refusal(true)) return {std::move(made).value_or(std::string()), {}, 0};
    return BlockingProcedure<SettlePlan>(
               impl_, std::make_unique<SettlePlan>(terms_, std::move(right), std::move(made), due))
        .wait();
  }

  Result<Value> timed_out() const {
    Error error =
        client::runtime::local_error(Outcome::not_sent, Reason::timed_out,
                                     "another thread computes the value and was not done in time");
    error.elapsed = read_monotonic() - started_;
    return Failure(std::move(error));
  }

  Client::Impl& impl_;
  const ComputeOptions& options_;
  Deadline started_;
  Deadline due_;
  Seed seed_;
  Terms terms_;
};

}  // namespace

Result<Value> Client::get_or_compute(std::string_view key, const ComputeOptions& options,
                                     const Compute& compute) {
  const Deadline started = read_monotonic();
  if (auto wrong = check(key, options, compute)) return Failure(std::move(*wrong));
  auto got = get(key, {options.timeout});
  if (!got) return Failure(std::move(got.error()));
  if (*got) return std::move(**got);
  return Caller(*impl_, key, options, started).run(compute);
}

}  // namespace v0
}  // namespace sheaf
