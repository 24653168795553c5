#include <sheaf/client.h>

#include "client/calls/call.h"
#include "client/calls/checks.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::call;
using client::calls::call_async;
using client::calls::first_of;
using client::calls::promised;
using client::runtime::GetOp;
using client::runtime::RemoveOp;
using client::runtime::SetOp;

std::optional<Error> check_set(std::string_view key, std::string_view value,
                               const SetOptions& options, const ClusterConfig& config) {
  return first_of(client::calls::check_key(key), client::calls::check_value(value, config),
                  client::calls::check_ttl(options.ttl));
}

std::optional<Error> check_remove(std::string_view key, const RemoveOptions& options,
                                  const ClusterConfig& config) {
  return first_of(
      client::calls::check_key(key),
      client::calls::check_value(options.if_value.value_or(std::string_view{}), config));
}

}  // namespace

Client::Client(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&& other) noexcept {
  if (this == &other) return *this;
  if (impl_ != nullptr) impl_->close();
  impl_ = std::move(other.impl_);
  return *this;
}
Client::~Client() {
  if (impl_ != nullptr) impl_->close();
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

Result<GetResult> Client::get(std::string_view key, const GetOptions& options) {
  return call<GetOp>(*impl_, client::calls::get_operation(key), options.timeout,
                     client::calls::check_key(key));
}

void Client::get_async(std::string_view key, const GetOptions& options, GetCallback done) {
  call_async<GetOp>(*impl_, client::calls::get_operation(key), options.timeout,
                    client::calls::check_key(key), {std::move(done)});
}

std::future<Result<GetResult>> Client::get_future(std::string_view key, const GetOptions& options) {
  auto [receiver, future] = promised<Result<GetResult>>();
  call_async<GetOp>(*impl_, client::calls::get_operation(key), options.timeout,
                    client::calls::check_key(key), std::move(receiver));
  return std::move(future);
}

Result<SetResult> Client::set(std::string_view key, std::string_view value,
                              const SetOptions& options) {
  return call<SetOp>(*impl_, client::calls::set_operation(key, value, options, impl_->config()),
                     options.timeout, check_set(key, value, options, impl_->config()));
}

void Client::set_async(std::string_view key, std::string_view value, const SetOptions& options,
                       SetCallback done) {
  call_async<SetOp>(*impl_, client::calls::set_operation(key, value, options, impl_->config()),
                    options.timeout, check_set(key, value, options, impl_->config()),
                    {std::move(done)});
}

std::future<Result<SetResult>> Client::set_future(std::string_view key, std::string_view value,
                                                  const SetOptions& options) {
  auto [receiver, future] = promised<Result<SetResult>>();
  call_async<SetOp>(*impl_, client::calls::set_operation(key, value, options, impl_->config()),
                    options.timeout, check_set(key, value, options, impl_->config()),
                    std::move(receiver));
  return std::move(future);
}

Result<RemoveResult> Client::remove(std::string_view key, const RemoveOptions& options) {
  return call<RemoveOp>(*impl_, client::calls::remove_operation(key, options), options.timeout,
                        check_remove(key, options, impl_->config()));
}

void Client::remove_async(std::string_view key, const RemoveOptions& options, RemoveCallback done) {
  call_async<RemoveOp>(*impl_, client::calls::remove_operation(key, options), options.timeout,
                       check_remove(key, options, impl_->config()), {std::move(done)});
}

std::future<Result<RemoveResult>> Client::remove_future(std::string_view key,
                                                        const RemoveOptions& options) {
  auto [receiver, future] = promised<Result<RemoveResult>>();
  call_async<RemoveOp>(*impl_, client::calls::remove_operation(key, options), options.timeout,
                       check_remove(key, options, impl_->config()), std::move(receiver));
  return std::move(future);
}

const ClusterConfig& Client::config() const noexcept { return impl_->config(); }

}  // namespace v0
}  // namespace sheaf
