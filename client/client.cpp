#include <sheaf/client.h>

#include "client/call.h"
#include "client/checks.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::GetOp;
using client::promised;
using client::Receiver;
using client::RemoveOp;
using client::SetOp;
using protocol::Operation;

// The first of the checks that found something.
template <class... Checks>
std::optional<Error> first_of(Checks&&... checks) {
  std::optional<Error> found;
  ((found ? void() : void(found = std::forward<Checks>(checks))), ...);
  return found;
}

// Fills in the deadline; the error is the first reason not to start.
std::optional<Error> prepare(const Client::Impl& impl, Operation& operation, Deadline started,
                             const Timeout& timeout, bool blocking, std::optional<Error> checked) {
  if (auto refused = impl.refusal(blocking)) return refused;
  if (checked) return checked;
  if (auto error = client::check_timeout(timeout)) return error;
  operation.deadline = impl.deadline(started, timeout);
  return std::nullopt;
}

template <class Op>
typename Op::Out call(Client::Impl& impl, Operation operation, const Timeout& timeout,
                      std::optional<Error> checked) {
  const Deadline started = socket::read_clocks().mono;
  if (auto error = prepare(impl, operation, started, timeout, true, std::move(checked))) {
    return Failure(std::move(*error));
  }
  return client::BlockingCall<Op>(impl, operation, started).wait();
}

template <class Op>
void call_async(Client::Impl& impl, Operation operation, const Timeout& timeout,
                std::optional<Error> checked, Receiver<typename Op::Out> receiver) {
  const Deadline started = socket::read_clocks().mono;
  if (auto error = prepare(impl, operation, started, timeout, false, std::move(checked))) {
    receiver.deliver(impl.dispatcher(), Failure(std::move(*error)));
    return;
  }
  client::AsyncCall<Op>::begin(impl, operation, started, std::move(receiver));
}

std::optional<Error> check_set(std::string_view key, std::string_view value,
                               const SetOptions& options, const ClusterConfig& config) {
  return first_of(client::check_key(key), client::check_value(value, config),
                  client::check_ttl(options.ttl));
}

std::optional<Error> check_remove(std::string_view key, const RemoveOptions& options,
                                  const ClusterConfig& config) {
  return first_of(client::check_key(key),
                  client::check_value(options.if_value.value_or(std::string_view{}), config));
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
  return call<GetOp>(*impl_, client::get_operation(key), options.timeout, client::check_key(key));
}

void Client::get_async(std::string_view key, const GetOptions& options, GetCallback done) {
  call_async<GetOp>(*impl_, client::get_operation(key), options.timeout, client::check_key(key),
                    {std::move(done)});
}

std::future<Result<GetResult>> Client::get_future(std::string_view key, const GetOptions& options) {
  auto [receiver, future] = promised<Result<GetResult>>();
  call_async<GetOp>(*impl_, client::get_operation(key), options.timeout, client::check_key(key),
                    std::move(receiver));
  return std::move(future);
}

Result<SetResult> Client::set(std::string_view key, std::string_view value,
                              const SetOptions& options) {
  return call<SetOp>(*impl_, client::set_operation(key, value, options, impl_->config()),
                     options.timeout, check_set(key, value, options, impl_->config()));
}

void Client::set_async(std::string_view key, std::string_view value, const SetOptions& options,
                       SetCallback done) {
  call_async<SetOp>(*impl_, client::set_operation(key, value, options, impl_->config()),
                    options.timeout, check_set(key, value, options, impl_->config()),
                    {std::move(done)});
}

std::future<Result<SetResult>> Client::set_future(std::string_view key, std::string_view value,
                                                  const SetOptions& options) {
  auto [receiver, future] = promised<Result<SetResult>>();
  call_async<SetOp>(*impl_, client::set_operation(key, value, options, impl_->config()),
                    options.timeout, check_set(key, value, options, impl_->config()),
                    std::move(receiver));
  return std::move(future);
}

Result<RemoveResult> Client::remove(std::string_view key, const RemoveOptions& options) {
  return call<RemoveOp>(*impl_, client::remove_operation(key, options), options.timeout,
                        check_remove(key, options, impl_->config()));
}

void Client::remove_async(std::string_view key, const RemoveOptions& options, RemoveCallback done) {
  call_async<RemoveOp>(*impl_, client::remove_operation(key, options), options.timeout,
                       check_remove(key, options, impl_->config()), {std::move(done)});
}

std::future<Result<RemoveResult>> Client::remove_future(std::string_view key,
                                                        const RemoveOptions& options) {
  auto [receiver, future] = promised<Result<RemoveResult>>();
  call_async<RemoveOp>(*impl_, client::remove_operation(key, options), options.timeout,
                       check_remove(key, options, impl_->config()), std::move(receiver));
  return std::move(future);
}

const ClusterConfig& Client::config() const noexcept { return impl_->config(); }

}  // namespace v0
}  // namespace sheaf
