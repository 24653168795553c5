// FutureClient: the calls of AsyncClient, with a promise in the place of the callback.

#include <sheaf/async.h>

#include "client/calls/batch_call.h"
#include "client/calls/call.h"
#include "client/calls/command_call.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {
namespace {

using protocol::Verb;
namespace calls = client::calls;
namespace runtime = client::runtime;

template <class Op>
std::future<typename Op::Out> start(runtime::Context& context, calls::KeyRequest request) {
  auto [receiver, future] = calls::promised<typename Op::Out>();
  calls::call_async<Op>(context, std::move(request), std::move(receiver));
  return std::move(future);
}

template <class Op, class Entry>
std::future<typename calls::Batch<Op>::Out> start_batch(runtime::Context& context,
                                                        calls::BatchRequest<Entry> request) {
  auto [receiver, future] = calls::promised<typename calls::Batch<Op>::Out>();
  calls::call_batch_async<Op>(context, std::move(request), std::move(receiver));
  return std::move(future);
}

}  // namespace

std::future<Result<GetResult>> FutureClient::get(std::string_view key,
                                                 const GetOptions& options) const {
  return start<runtime::GetOp>(impl_->context(), calls::get_request(key, options));
}

std::future<Result<SetResult>> FutureClient::set(std::string_view key, std::string_view value,
                                                 const SetOptions& options) const {
  return start<runtime::SetOp>(impl_->context(),
                               calls::set_request(key, value, options, impl_->config()));
}

std::future<Result<RemoveResult>> FutureClient::remove(std::string_view key,
                                                       const RemoveOptions& options) const {
  return start<runtime::RemoveOp>(impl_->context(),
                                  calls::remove_request(key, options, impl_->config()));
}

std::future<Result<bool>> FutureClient::append(std::string_view key, std::string_view value,
                                               const EditOptions& options) const {
  return start<runtime::DoneOp>(
      impl_->context(), calls::edit_request(Verb::append, key, value, options, impl_->config()));
}

std::future<Result<bool>> FutureClient::prepend(std::string_view key, std::string_view value,
                                                const EditOptions& options) const {
  return start<runtime::DoneOp>(
      impl_->context(), calls::edit_request(Verb::prepend, key, value, options, impl_->config()));
}

std::future<Result<CountResult>> FutureClient::increment(std::string_view key, std::uint64_t delta,
                                                         const CountOptions& options) const {
  return start<runtime::CountOp>(impl_->context(), calls::count_request(Verb::increment, key, delta,
                                                                        options, impl_->config()));
}

std::future<Result<CountResult>> FutureClient::decrement(std::string_view key, std::uint64_t delta,
                                                         const CountOptions& options) const {
  return start<runtime::CountOp>(impl_->context(), calls::count_request(Verb::decrement, key, delta,
                                                                        options, impl_->config()));
}

std::future<Result<bool>> FutureClient::touch(std::string_view key,
                                              const TouchOptions& options) const {
  return start<runtime::DoneOp>(impl_->context(),
                                calls::touch_request(Verb::touch, key, options, impl_->config()));
}

std::future<Result<GetResult>> FutureClient::get_and_touch(std::string_view key,
                                                           const TouchOptions& options) const {
  return start<runtime::GetOp>(
      impl_->context(), calls::touch_request(Verb::get_and_touch, key, options, impl_->config()));
}

std::future<Result<GetResult>> FutureClient::get_and_set(std::string_view key,
                                                         std::string_view value,
                                                         const GetAndSetOptions& options) const {
  return start<runtime::GetOp>(impl_->context(),
                               calls::get_and_set_request(key, value, options, impl_->config()));
}

std::future<Result<Value>> FutureClient::get_or_compute(std::string_view key,
                                                        const ComputeOptions& options,
                                                        AsyncCompute compute) const {
  auto [receiver, future] = calls::promised<Result<Value>>();
  client::compute::get_or_compute_async(impl_->computations(), key, options, std::move(compute),
                                        std::move(receiver));
  return std::move(future);
}

std::future<Result<Value>> FutureClient::get_or_compute(std::string_view key,
                                                        const ComputeOptions& options,
                                                        Client::Compute compute) const {
  return get_or_compute(key, options, client::compute::simple(std::move(compute)));
}

std::future<Result<CommandReply>> FutureClient::execute(Command command,
                                                        const CommandOptions& options) const {
  auto [receiver, future] = calls::promised<Result<CommandReply>>();
  calls::execute_async(impl_->context(), std::move(command), options, std::move(receiver));
  return std::move(future);
}

std::future<AsyncClient::Gets> FutureClient::get_many(std::span<const std::string_view> keys,
                                                      const BatchOptions& options) const {
  return start_batch<runtime::GetOp>(impl_->context(),
                                     calls::keys_request(Verb::get, keys, options));
}

std::future<AsyncClient::Sets> FutureClient::set_many(std::span<const SetItem> items,
                                                      const BatchSetOptions& options) const {
  return start_batch<runtime::SetOp>(impl_->context(),
                                     calls::items_request(items, options, impl_->config()));
}

std::future<AsyncClient::Removes> FutureClient::remove_many(std::span<const std::string_view> keys,
                                                            const BatchOptions& options) const {
  return start_batch<runtime::RemoveOp>(impl_->context(),
                                        calls::keys_request(Verb::remove, keys, options));
}

}  // namespace v0
}  // namespace sheaf
