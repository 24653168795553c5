// AsyncComputations: get_or_compute with a callback and as a coroutine.

#include <utility>

#include <sheaf/async.h>
#include <sheaf/move_only_function.h>

#include "client/calls/owned_options.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {

using client::calls::OwnedOptions;
using client::compute::simple;

void AsyncComputations::get_or_compute(std::string_view key, const ComputeOptions& options,
                                       AsyncCompute compute,
                                       MoveOnlyFunction<void(Result<Value>)> done) const {
  client::compute::get_or_compute_async(impl_->computations(), key, options, std::move(compute),
                                        {std::move(done)});
}

void AsyncComputations::get_or_compute(std::string_view key, const ComputeOptions& options,
                                       Client::Compute compute,
                                       MoveOnlyFunction<void(Result<Value>)> done) const {
  get_or_compute(key, options, simple(std::move(compute)), std::move(done));
}

Awaitable<Result<Value>> AsyncComputations::get_or_compute(std::string_view key,
                                                           const ComputeOptions& options,
                                                           AsyncCompute compute) const {
  return {[self = *this, key = std::string(key), own = OwnedOptions(options),
           compute = std::move(compute)](auto done) mutable {
            self.get_or_compute(key, own.get(), std::move(compute), std::move(done));
          },
          hook_};
}

Awaitable<Result<Value>> AsyncComputations::get_or_compute(std::string_view key,
                                                           const ComputeOptions& options,
                                                           Client::Compute compute) const {
  return get_or_compute(key, options, simple(std::move(compute)));
}

}  // namespace v0
}  // namespace sheaf
