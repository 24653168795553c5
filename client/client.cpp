// The members of Client and AsyncClient, which pass their arguments to the folder that implements
// them. Both forms of an operation are next to each other.

#include <utility>

#include <sheaf/async.h>
#include <sheaf/client.h>

#include "client/calls/batch_call.h"
#include "client/calls/call.h"
#include "client/calls/command_batch.h"
#include "client/calls/node_calls.h"
#include "client/calls/reconfigure.h"
#include "client/client_impl.h"
#include "client/runtime/features.h"

namespace sheaf {
inline namespace v0 {

using protocol::Verb;
namespace calls = client::calls;
namespace runtime = client::runtime;

namespace {

const std::shared_ptr<Client::Impl>& shared(const Client& client) {
  return client::Internals::impl(client);
}

calls::Origin origin(const std::shared_ptr<Client::Impl>& impl, const ResumeHook& hook) {
  return {impl, impl->context(), hook};
}

}  // namespace

Client::Client(std::shared_ptr<Impl> impl) noexcept : handle_(std::move(impl)) {}

Client::Handle::Handle(std::shared_ptr<Impl> client) noexcept : impl(std::move(client)) {}
Client::Handle::Handle(Handle&&) noexcept = default;
Client::Handle& Client::Handle::operator=(Handle&& other) noexcept {
  if (this == &other) return *this;
  if (impl != nullptr) impl->close();
  impl = std::move(other.impl);
  return *this;
}
Client::Handle::~Handle() {
  if (impl != nullptr) impl->close();
}

Result<Client> Client::open(std::string_view uri, ClientOptions options) {
  auto config = ClusterConfig::parse_uri(uri);
  if (!config) return Failure(std::move(config.error()));
  return open(std::move(*config), std::move(options));
}

Result<Client> Client::open(ClusterConfig config, ClientOptions options) {
  auto impl = Impl::make(std::move(config), std::move(options));
  if (!impl) return Failure(std::move(impl.error()));
  return Client(std::move(*impl));
}

const ClusterConfig& Client::config() const noexcept { return shared(*this)->config(); }

// ---- operations, as Client's and as AsyncClient's

Result<GetResult> Client::get(std::string_view key, const GetOptions& options) {
  return calls::call<runtime::GetOp>(shared(*this)->context(), calls::get_request(key, options));
}

Call<Result<GetResult>> AsyncClient::get(std::string_view key, const GetOptions& options) const {
  return calls::later<runtime::GetOp>(origin(impl_, hook_), calls::get_request(key, options));
}

Result<SetResult> Client::set(std::string_view key, std::string_view value,
                              const SetOptions& options) {
  return calls::call<runtime::SetOp>(
      shared(*this)->context(), calls::set_request(key, value, options, shared(*this)->config()));
}

Call<Result<SetResult>> AsyncClient::set(std::string_view key, std::string_view value,
                                         const SetOptions& options) const {
  return calls::later<runtime::SetOp>(origin(impl_, hook_),
                                      calls::set_request(key, value, options, impl_->config()));
}

Result<RemoveResult> Client::remove(std::string_view key, const RemoveOptions& options) {
  return calls::call<runtime::RemoveOp>(
      shared(*this)->context(), calls::remove_request(key, options, shared(*this)->config()));
}

Call<Result<RemoveResult>> AsyncClient::remove(std::string_view key,
                                               const RemoveOptions& options) const {
  return calls::later<runtime::RemoveOp>(origin(impl_, hook_),
                                         calls::remove_request(key, options, impl_->config()));
}

Result<bool> Client::append(std::string_view key, std::string_view value,
                            const EditOptions& options) {
  return calls::call<runtime::DoneOp>(
      shared(*this)->context(),
      calls::edit_request(Verb::append, key, value, options, shared(*this)->config()));
}

Call<Result<bool>> AsyncClient::append(std::string_view key, std::string_view value,
                                       const EditOptions& options) const {
  return calls::later<runtime::DoneOp>(
      origin(impl_, hook_),
      calls::edit_request(Verb::append, key, value, options, impl_->config()));
}

Result<bool> Client::prepend(std::string_view key, std::string_view value,
                             const EditOptions& options) {
  return calls::call<runtime::DoneOp>(
      shared(*this)->context(),
      calls::edit_request(Verb::prepend, key, value, options, shared(*this)->config()));
}

Call<Result<bool>> AsyncClient::prepend(std::string_view key, std::string_view value,
                                        const EditOptions& options) const {
  return calls::later<runtime::DoneOp>(
      origin(impl_, hook_),
      calls::edit_request(Verb::prepend, key, value, options, impl_->config()));
}

Result<CountResult> Client::increment(std::string_view key, std::uint64_t delta,
                                      const CountOptions& options) {
  return calls::call<runtime::CountOp>(
      shared(*this)->context(),
      calls::count_request(Verb::increment, key, delta, options, shared(*this)->config()));
}

Call<Result<CountResult>> AsyncClient::increment(std::string_view key, std::uint64_t delta,
                                                 const CountOptions& options) const {
  return calls::later<runtime::CountOp>(
      origin(impl_, hook_),
      calls::count_request(Verb::increment, key, delta, options, impl_->config()));
}

Result<CountResult> Client::decrement(std::string_view key, std::uint64_t delta,
                                      const CountOptions& options) {
  return calls::call<runtime::CountOp>(
      shared(*this)->context(),
      calls::count_request(Verb::decrement, key, delta, options, shared(*this)->config()));
}

Call<Result<CountResult>> AsyncClient::decrement(std::string_view key, std::uint64_t delta,
                                                 const CountOptions& options) const {
  return calls::later<runtime::CountOp>(
      origin(impl_, hook_),
      calls::count_request(Verb::decrement, key, delta, options, impl_->config()));
}

Result<bool> Client::touch(std::string_view key, const TouchOptions& options) {
  return calls::call<runtime::DoneOp>(
      shared(*this)->context(),
      calls::touch_request(Verb::touch, key, options, shared(*this)->config()));
}

Call<Result<bool>> AsyncClient::touch(std::string_view key, const TouchOptions& options) const {
  return calls::later<runtime::DoneOp>(
      origin(impl_, hook_), calls::touch_request(Verb::touch, key, options, impl_->config()));
}

Result<GetResult> Client::get_and_touch(std::string_view key, const TouchOptions& options) {
  return calls::call<runtime::GetOp>(
      shared(*this)->context(),
      calls::touch_request(Verb::get_and_touch, key, options, shared(*this)->config()));
}

Call<Result<GetResult>> AsyncClient::get_and_touch(std::string_view key,
                                                   const TouchOptions& options) const {
  return calls::later<runtime::GetOp>(
      origin(impl_, hook_),
      calls::touch_request(Verb::get_and_touch, key, options, impl_->config()));
}

Result<GetResult> Client::get_and_set(std::string_view key, std::string_view value,
                                      const GetAndSetOptions& options) {
  return calls::call<runtime::GetOp>(
      shared(*this)->context(),
      calls::get_and_set_request(key, value, options, shared(*this)->config()));
}

Call<Result<GetResult>> AsyncClient::get_and_set(std::string_view key, std::string_view value,
                                                 const GetAndSetOptions& options) const {
  return calls::later<runtime::GetOp>(
      origin(impl_, hook_), calls::get_and_set_request(key, value, options, impl_->config()));
}

Result<Value> Client::get_or_compute(std::string_view key, const ComputeOptions& options,
                                     const Compute& compute) {
  return client::compute::get_or_compute(shared(*this)->computations(), key, options, compute);
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

Result<CommandReply> Client::execute(Command command, const CommandOptions& options) {
  return calls::execute(shared(*this)->context(), std::move(command), options);
}

Call<Result<CommandReply>> AsyncClient::execute(Command command,
                                                const CommandOptions& options) const {
  return calls::execute_later(origin(impl_, hook_), std::move(command), options);
}

Result<std::vector<NodeReply>> Client::execute_on_all(Command command,
                                                      const CommandOptions& options) {
  return calls::execute_on_all(shared(*this)->context(), std::move(command), options);
}

Call<Result<std::vector<NodeReply>>> AsyncClient::execute_on_all(
    Command command, const CommandOptions& options) const {
  return calls::execute_on_all_later(origin(impl_, hook_), std::move(command), options);
}

std::vector<Result<CommandReply>> Client::execute_many(std::span<const Command> commands,
                                                       const CommandOptions& options) {
  return calls::execute_many(shared(*this)->context(), commands, options);
}

Call<std::vector<Result<CommandReply>>> AsyncClient::execute_many(
    std::vector<Command> commands, const CommandOptions& options) const {
  return calls::execute_many_later(origin(impl_, hook_), std::move(commands), options);
}

std::vector<KeyResult<GetResult>> Client::get_many(std::span<const std::string_view> keys,
                                                   const BatchOptions& options,
                                                   std::vector<KeyResult<GetResult>>&& used) {
  return calls::call_batch<runtime::GetOp>(
      shared(*this)->context(), calls::keys_request(Verb::get, keys, options), std::move(used));
}

Call<AsyncClient::Gets> AsyncClient::get_many(std::span<const std::string_view> keys,
                                              const BatchOptions& options) const {
  return calls::batch_later<runtime::GetOp>(origin(impl_, hook_),
                                            calls::keys_request(Verb::get, keys, options));
}

std::vector<KeyResult<SetResult>> Client::set_many(std::span<const SetItem> items,
                                                   const BatchSetOptions& options) {
  return calls::call_batch<runtime::SetOp>(
      shared(*this)->context(), calls::items_request(items, options, shared(*this)->config()));
}

Call<AsyncClient::Sets> AsyncClient::set_many(std::span<const SetItem> items,
                                              const BatchSetOptions& options) const {
  return calls::batch_later<runtime::SetOp>(origin(impl_, hook_),
                                            calls::items_request(items, options, impl_->config()));
}

std::vector<KeyResult<RemoveResult>> Client::remove_many(std::span<const std::string_view> keys,
                                                         const BatchOptions& options) {
  return calls::call_batch<runtime::RemoveOp>(shared(*this)->context(),
                                              calls::keys_request(Verb::remove, keys, options));
}

Call<AsyncClient::Removes> AsyncClient::remove_many(std::span<const std::string_view> keys,
                                                    const BatchOptions& options) const {
  return calls::batch_later<runtime::RemoveOp>(origin(impl_, hook_),
                                               calls::keys_request(Verb::remove, keys, options));
}

std::vector<NodeReport> Client::check_nodes(const NodesOptions& options) {
  return calls::check_nodes(shared(*this)->context(), options);
}

Call<std::vector<NodeReport>> AsyncClient::check_nodes(const NodesOptions& options) const {
  return calls::check_nodes_later(origin(impl_, hook_), options);
}

std::vector<NodeText> Client::server_stats(std::string_view group, const NodesOptions& options) {
  return calls::ask_for_texts(shared(*this)->context(), Verb::stats, group, options);
}

Call<std::vector<NodeText>> AsyncClient::server_stats(std::string_view group,
                                                      const NodesOptions& options) const {
  return calls::ask_for_texts_later(origin(impl_, hook_), Verb::stats, group, options);
}

std::vector<NodeText> Client::server_versions(const NodesOptions& options) {
  return calls::ask_for_texts(shared(*this)->context(), Verb::server_version, {}, options);
}

Call<std::vector<NodeText>> AsyncClient::server_versions(const NodesOptions& options) const {
  return calls::ask_for_texts_later(origin(impl_, hook_), Verb::server_version, {}, options);
}

// ---- what has one form

Result<Watch> Client::watch(std::string_view key, const WatchOptions& options,
                            WatchCallback callback) {
  return watch(std::span(&key, 1), options, std::move(callback));
}

Result<Watch> Client::watch(std::span<const std::string_view> keys, const WatchOptions& options,
                            WatchCallback callback) {
  auto session =
      client::watch::open_session(Impl::watches(shared(*this)), keys, options, std::move(callback));
  if (!session) return Failure(std::move(session.error()));
  return Watch(std::move(*session));
}

bool Client::supports(Feature feature) const noexcept {
  return runtime::supports(shared(*this)->config(), feature);
}

Result<Location> Client::locate(std::string_view key) const {
  return calls::locate(shared(*this)->context(), key);
}

std::vector<NodeStats> Client::stats() const { return calls::node_stats(shared(*this)->context()); }

Metrics Client::metrics() const { return shared(*this)->metrics(); }

Result<std::vector<ClusterServer>> Client::cluster_servers(const NodesOptions& options) {
  return calls::cluster_servers(shared(*this)->context(), options.timeout, options.stop);
}

Result<ServersChanged> Client::reconfigure(const ClusterConfig& config) {
  return calls::reconfigure(shared(*this)->context(), config);
}

AsyncClient Client::async() const { return {shared(*this), {}}; }

}  // namespace v0

std::shared_ptr<client::lock::LockService> client::lock::service_of(const Client& client) {
  return Client::Impl::locks(Internals::impl(client));
}

std::shared_ptr<client::list::ListService> client::list::service_of(const Client& client) {
  return Client::Impl::lists(Internals::impl(client));
}

}  // namespace sheaf
