// The members of Client that change a value in place, or its time to live.

#include <sheaf/client.h>

#include "client/calls/call.h"
#include "client/calls/checks.h"
#include "client/client_impl.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::promised;
using client::calls::Receiver;
using client::runtime::CountOp;
using client::runtime::DoneOp;
using client::runtime::GetOp;
using protocol::Verb;

// One call in the three forms: its operation, checked, and where the result goes.
struct Edit {
  Verb verb;
  std::string_view key;
  std::string_view value;
  const EditOptions& options;

  protocol::Operation operation(const Client::Impl&) const {
    return client::calls::edit_operation(verb, key, value);
  }
  std::optional<Error> check(const Client::Impl& impl) const {
    return client::calls::first_of(client::calls::check_key(key),
                                   client::calls::check_value(value, impl.config()));
  }
};

struct Count {
  Verb verb;
  std::string_view key;
  std::uint64_t delta;
  const CountOptions& options;

  protocol::Operation operation(const Client::Impl& impl) const {
    return client::calls::count_operation(verb, key, delta, options, impl.config());
  }
  std::optional<Error> check(const Client::Impl&) const {
    return client::calls::first_of(client::calls::check_key(key),
                                   client::calls::check_ttl(options.ttl));
  }
};

struct Touch {
  Verb verb;
  std::string_view key;
  const TouchOptions& options;

  protocol::Operation operation(const Client::Impl& impl) const {
    return client::calls::touch_operation(verb, key, options, impl.config());
  }
  std::optional<Error> check(const Client::Impl&) const {
    return client::calls::first_of(client::calls::check_key(key),
                                   client::calls::check_ttl(options.ttl));
  }
};

template <class Op, class Request>
typename Op::Out blocking(Client::Impl& impl, const Request& request) {
  return client::calls::call<Op>(impl, request.operation(impl), request.options.timeout,
                                 request.check(impl));
}

template <class Op, class Request>
void asynchronous(Client::Impl& impl, const Request& request, Receiver<typename Op::Out> receiver) {
  client::calls::call_async<Op>(impl, request.operation(impl), request.options.timeout,
                                request.check(impl), std::move(receiver));
}

template <class Op, class Request>
std::future<typename Op::Out> in_future(Client::Impl& impl, const Request& request) {
  auto [receiver, future] = promised<typename Op::Out>();
  asynchronous<Op>(impl, request, std::move(receiver));
  return std::move(future);
}

}  // namespace

Result<bool> Client::append(std::string_view key, std::string_view value,
                            const EditOptions& options) {
  return blocking<DoneOp>(*impl_, Edit{Verb::append, key, value, options});
}
void Client::append_async(std::string_view key, std::string_view value, const EditOptions& options,
                          DoneCallback done) {
  asynchronous<DoneOp>(*impl_, Edit{Verb::append, key, value, options}, {std::move(done)});
}
std::future<Result<bool>> Client::append_future(std::string_view key, std::string_view value,
                                                const EditOptions& options) {
  return in_future<DoneOp>(*impl_, Edit{Verb::append, key, value, options});
}

Result<bool> Client::prepend(std::string_view key, std::string_view value,
                             const EditOptions& options) {
  return blocking<DoneOp>(*impl_, Edit{Verb::prepend, key, value, options});
}
void Client::prepend_async(std::string_view key, std::string_view value, const EditOptions& options,
                           DoneCallback done) {
  asynchronous<DoneOp>(*impl_, Edit{Verb::prepend, key, value, options}, {std::move(done)});
}
std::future<Result<bool>> Client::prepend_future(std::string_view key, std::string_view value,
                                                 const EditOptions& options) {
  return in_future<DoneOp>(*impl_, Edit{Verb::prepend, key, value, options});
}

Result<CountResult> Client::increment(std::string_view key, std::uint64_t delta,
                                      const CountOptions& options) {
  return blocking<CountOp>(*impl_, Count{Verb::increment, key, delta, options});
}
void Client::increment_async(std::string_view key, std::uint64_t delta, const CountOptions& options,
                             CountCallback done) {
  asynchronous<CountOp>(*impl_, Count{Verb::increment, key, delta, options}, {std::move(done)});
}
std::future<Result<CountResult>> Client::increment_future(std::string_view key, std::uint64_t delta,
                                                          const CountOptions& options) {
  return in_future<CountOp>(*impl_, Count{Verb::increment, key, delta, options});
}

Result<CountResult> Client::decrement(std::string_view key, std::uint64_t delta,
                                      const CountOptions& options) {
  return blocking<CountOp>(*impl_, Count{Verb::decrement, key, delta, options});
}
void Client::decrement_async(std::string_view key, std::uint64_t delta, const CountOptions& options,
                             CountCallback done) {
  asynchronous<CountOp>(*impl_, Count{Verb::decrement, key, delta, options}, {std::move(done)});
}
std::future<Result<CountResult>> Client::decrement_future(std::string_view key, std::uint64_t delta,
                                                          const CountOptions& options) {
  return in_future<CountOp>(*impl_, Count{Verb::decrement, key, delta, options});
}

Result<bool> Client::touch(std::string_view key, const TouchOptions& options) {
  return blocking<DoneOp>(*impl_, Touch{Verb::touch, key, options});
}
void Client::touch_async(std::string_view key, const TouchOptions& options, DoneCallback done) {
  asynchronous<DoneOp>(*impl_, Touch{Verb::touch, key, options}, {std::move(done)});
}
std::future<Result<bool>> Client::touch_future(std::string_view key, const TouchOptions& options) {
  return in_future<DoneOp>(*impl_, Touch{Verb::touch, key, options});
}

Result<GetResult> Client::get_and_touch(std::string_view key, const TouchOptions& options) {
  return blocking<GetOp>(*impl_, Touch{Verb::get_and_touch, key, options});
}
void Client::get_and_touch_async(std::string_view key, const TouchOptions& options,
                                 GetCallback done) {
  asynchronous<GetOp>(*impl_, Touch{Verb::get_and_touch, key, options}, {std::move(done)});
}
std::future<Result<GetResult>> Client::get_and_touch_future(std::string_view key,
                                                            const TouchOptions& options) {
  return in_future<GetOp>(*impl_, Touch{Verb::get_and_touch, key, options});
}

}  // namespace v0
}  // namespace sheaf
