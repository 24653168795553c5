// get_or_compute, for a caller that waits and computes on its own stack and for one that does
// neither. Each reads the key first, and becomes a Computation if the key is absent.

#include <utility>

#include <sheaf/move_only_function.h>

#include "base/read_clocks.h"
#include "base/text.h"
#include "client/calls/call.h"
#include "client/compute/computation.h"
#include "client/compute/compute_service.h"
#include "protocol/endpoint_kinds.h"

namespace sheaf::client::compute {
namespace {

using Compute = MoveOnlyFunction<std::string()>;

constexpr std::chrono::milliseconds longest_lease = std::chrono::hours(24);

std::optional<Error> check(std::string_view key, const ComputeOptions& options, bool has_function) {
  if (auto wrong = calls::first_of(calls::check_key(key), calls::check_ttl(options.ttl))) {
    return wrong;
  }
  if (!options.lease.valid() || options.lease.milliseconds() > longest_lease) {
    const bool shown = options.lease.valid();
    const std::string lease =
        shown ? format_duration(options.lease.milliseconds()) : "0, negative or endless";
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "the lease is " + lease + "; it must be 1 ms to 24 h");
  }
  if (!has_function) {
    return runtime::local_error(Outcome::invalid, Reason::bad_argument,
                                "there is no function to compute the value");
  }
  return std::nullopt;
}

Terms terms_of(const runtime::Context& context, std::string_view key, const ComputeOptions& options,
               const calls::Admission& admission) {
  const ClusterConfig& config = context.config();
  const protocol::EndpointTraits& traits = protocol::traits_of(config.kind);
  Terms terms;
  terms.key = key;
  terms.guard = guard_of(key);
  terms.lease = options.lease.milliseconds();
  terms.ttl = calls::effective_ttl(options.ttl, config);
  terms.longest_value = config.value_limit;
  terms.started = admission.started;
  terms.due = admission.deadline;
  terms.leases = traits.shortcuts.has(protocol::Verb::lease) && !options.lease_beside;
  terms.versions = traits.compares == protocol::Compares::versions;
  terms.parent = admission.parent;
  return terms;
}

// Copies a shared value, so it must not run under the baton.
struct ValueOf {
  Result<Value> operator()(ComputePlan::Out out) const {
    if (!out) return Failure(std::move(out.error()));
    if (const auto* shared = std::get_if<SharedValue>(&*out)) return **shared;
    return std::get<Value>(std::move(*out));
  }
};

// One of the two waits of a caller that computes on its own stack.
class BlockingCompute {
 public:
  using Out = std::optional<ComputePlan::Out>;  // empty: the caller computes now

  BlockingCompute(calls::WorkEnd& end, Computation& computation)
      : end_(end), computation_(computation) {}
  BlockingCompute(calls::WorkEnd& end, Computation& computation, std::optional<std::string> made)
      : end_(end), computation_(computation), settles_(true), made_(std::move(made)) {}

  void start(Now now) {
    settles_ ? computation_.settle(end_, std::move(made_), now) : computation_.start(end_, now);
  }
  void cancel(Now now) { computation_.cancel(now); }
  Out take() { return computation_.take_out(); }

 private:
  calls::WorkEnd& end_;
  Computation& computation_;
  const bool settles_ = false;
  std::optional<std::string> made_;
};

// A whole asynchronous get_or_compute. The user's function is destroyed by the dispatcher.
class AsyncComputeCall final : private calls::WorkEnd {
 public:
  using Out = ComputePlan::Out;

  // `request` reads the key of `terms`.
  AsyncComputeCall(calls::WorkEnd& end, ComputeService& service, const calls::KeyRequest& request,
                   const calls::Admission& admission, Terms terms, AsyncCompute&& function)
      : end_(end),
        service_(service),
        terms_(std::move(terms)),
        function_(std::make_shared<const AsyncCompute>(std::move(function))),
        read_(static_cast<calls::WorkEnd&>(*this), service.context.cluster(), request, admission) {}

  void start(Now now) { read_.start(now); }
  void cancel(Now now) { computation_ != nullptr ? computation_->cancel(now) : read_.cancel(now); }
  // The dispatcher may hold the function, too; the last owner destroys it.
  Out take() {
    service_.context.dispatcher().deliver([function = std::move(function_)] {});
    return computation_ != nullptr ? *computation_->take_out() : std::move(*out_);
  }

 private:
  // The read.
  void ended() override {
    Result<GetResult> got = read_.take();
    if (got && !*got) {
      computation_ = std::make_shared<Computation>(service_, std::move(terms_), function_);
      return computation_->start(end_, service_.now());
    }
    if (got) {
      out_.emplace(std::move(**got));
    } else {
      out_.emplace(Failure(std::move(got.error())));
    }
    end_.ended();
  }

  calls::WorkEnd& end_;
  ComputeService& service_;
  Terms terms_;  // until the key was absent
  std::shared_ptr<const AsyncCompute> function_;
  calls::OneOperation<runtime::GetOp> read_;
  std::shared_ptr<Computation> computation_;  // null: the key is read
  std::optional<Out> out_;
};

BlockingCompute::Out wait_once(ComputeService& service, const ComputeOptions& options,
                               auto&&... args) {
  return calls::Blocking<BlockingCompute>(service.context.lane(), calls::HowToWait(),
                                          std::forward<decltype(args)>(args)...)
      .wait(options.stop);
}

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
  const calls::Admission admission{started, context.deadline(started, options.timeout),
                                   context.observed_parent()};
  const auto computation =
      std::make_shared<Computation>(service, terms_of(context, key, options, admission), nullptr);
  if (auto out = wait_once(service, options, *computation)) return ValueOf()(std::move(*out));
  std::optional<std::string> made;
  try {
    made = compute();
  } catch (...) {
    if (!context.refusal(true)) wait_once(service, options, *computation, std::nullopt);
    throw;
  }
  // The computed value is returned whether or not it can be stored.
  if (context.refusal(true)) return Value{std::move(*made), {}, 0};
  return ValueOf()(*wait_once(service, options, *computation, std::move(made)));
}

Call<Result<Value>> compute_later(calls::Origin origin, ComputeService& service,
                                  std::string_view key, const ComputeOptions& options,
                                  AsyncCompute compute) {
  return calls::prepare<Result<Value>, AsyncComputeCall>(
      std::move(origin), options.stop,
      [&service, key = std::string(key), options = options, compute = std::move(compute)](
          runtime::Context& context, Stop stop, auto way) mutable {
        const auto admitted = calls::admit(context, way.form, options.timeout, stop,
                                           check(key, options, compute != nullptr));
        if (!admitted) return way.refuse(context, admitted.error());
        auto request = calls::get_request(key, {options.timeout, stop});
        request.operation.deadline = admitted->deadline;
        way.template run<AsyncComputeCall>(context, stop, ValueOf(), service, request, *admitted,
                                           terms_of(context, key, options, *admitted),
                                           std::move(compute));
      });
}

}  // namespace sheaf::client::compute
