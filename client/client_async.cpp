// AsyncClient: the calls of Client, to be consumed later.

#include <utility>

#include <sheaf/async.h>

#include "client/calls/batch_call.h"
#include "client/calls/call.h"
#include "client/calls/command_call.h"
#include "client/calls/node_calls.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {

using protocol::Verb;
namespace calls = client::calls;
namespace runtime = client::runtime;

namespace {

calls::Origin origin(const std::shared_ptr<Client::Impl>& impl, const ResumeHook& hook) {
  return {impl, impl->context(), hook};
}

}  // namespace

Call<Result<GetResult>> AsyncClient::get(std::string_view key, const GetOptions& options) const {
  return calls::later<runtime::GetOp>(origin(impl_, hook_), calls::get_request(key, options));
}

Call<Result<SetResult>> AsyncClient::set(std::string_view key, std::string_view value,
                                         const SetOptions& options) const {
  return calls::later<runtime::SetOp>(origin(impl_, hook_),
                                      calls::set_request(key, value, options, impl_->config()));
}

Call<Result<RemoveResult>> AsyncClient::remove(std::string_view key,
                                               const RemoveOptions& options) const {
  return calls::later<runtime::RemoveOp>(origin(impl_, hook_),
                                         calls::remove_request(key, options, impl_->config()));
}

Call<Result<bool>> AsyncClient::append(std::string_view key, std::string_view value,
                                       const EditOptions& options) const {
  return calls::later<runtime::DoneOp>(
      origin(impl_, hook_),
      calls::edit_request(Verb::append, key, value, options, impl_->config()));
}

Call<Result<bool>> AsyncClient::prepend(std::string_view key, std::string_view value,
                                        const EditOptions& options) const {
  return calls::later<runtime::DoneOp>(
      origin(impl_, hook_),
      calls::edit_request(Verb::prepend, key, value, options, impl_->config()));
}

Call<Result<CountResult>> AsyncClient::increment(std::string_view key, std::uint64_t delta,
                                                 const CountOptions& options) const {
  return calls::later<runtime::CountOp>(
      origin(impl_, hook_),
      calls::count_request(Verb::increment, key, delta, options, impl_->config()));
}

Call<Result<CountResult>> AsyncClient::decrement(std::string_view key, std::uint64_t delta,
                                                 const CountOptions& options) const {
  return calls::later<runtime::CountOp>(
      origin(impl_, hook_),
      calls::count_request(Verb::decrement, key, delta, options, impl_->config()));
}

Call<Result<bool>> AsyncClient::touch(std::string_view key, const TouchOptions& options) const {
  return calls::later<runtime::DoneOp>(
      origin(impl_, hook_), calls::touch_request(Verb::touch, key, options, impl_->config()));
}

Call<Result<GetResult>> AsyncClient::get_and_touch(std::string_view key,
                                                   const TouchOptions& options) const {
  return calls::later<runtime::GetOp>(
      origin(impl_, hook_),
      calls::touch_request(Verb::get_and_touch, key, options, impl_->config()));
}

Call<Result<GetResult>> AsyncClient::get_and_set(std::string_view key, std::string_view value,
                                                 const GetAndSetOptions& options) const {
  return calls::later<runtime::GetOp>(
      origin(impl_, hook_), calls::get_and_set_request(key, value, options, impl_->config()));
}

Call<Result<Value>> AsyncClient::get_or_compute(std::string_view key, const ComputeOptions& options,
                                                AsyncCompute compute) const {
  return client::compute::compute_later(origin(impl_, hook_), impl_->computations(), key, options,
                                        std::move(compute));
}

Call<Result<Value>> AsyncClient::get_or_compute(std::string_view key, const ComputeOptions& options,
                                                Client::Compute compute) const {
  if (compute == nullptr) return get_or_compute(key, options, AsyncCompute());
  return get_or_compute(
      key, options,
      AsyncCompute([compute = std::move(compute)](const ComputeDone& done) { done(compute()); }));
}

Call<Result<CommandReply>> AsyncClient::execute(Command command,
                                                const CommandOptions& options) const {
  return calls::execute_later(origin(impl_, hook_), std::move(command), options);
}

Call<AsyncClient::Gets> AsyncClient::get_many(std::span<const std::string_view> keys,
                                              const BatchOptions& options) const {
  return calls::batch_later<runtime::GetOp>(origin(impl_, hook_),
                                            calls::keys_request(Verb::get, keys, options));
}

Call<AsyncClient::Sets> AsyncClient::set_many(std::span<const SetItem> items,
                                              const BatchSetOptions& options) const {
  return calls::batch_later<runtime::SetOp>(origin(impl_, hook_),
                                            calls::items_request(items, options, impl_->config()));
}

Call<AsyncClient::Removes> AsyncClient::remove_many(std::span<const std::string_view> keys,
                                                    const BatchOptions& options) const {
  return calls::batch_later<runtime::RemoveOp>(origin(impl_, hook_),
                                               calls::keys_request(Verb::remove, keys, options));
}

Call<std::vector<NodeReport>> AsyncClient::check_nodes(const NodesOptions& options) const {
  return calls::check_nodes_later(origin(impl_, hook_), options);
}

Call<std::vector<NodeText>> AsyncClient::server_stats(std::string_view group,
                                                      const NodesOptions& options) const {
  return calls::ask_for_texts_later(origin(impl_, hook_), Verb::stats, group, options);
}

Call<std::vector<NodeText>> AsyncClient::server_versions(const NodesOptions& options) const {
  return calls::ask_for_texts_later(origin(impl_, hook_), Verb::server_version, {}, options);
}

}  // namespace v0
}  // namespace sheaf
