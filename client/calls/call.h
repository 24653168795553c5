#pragma once

// One operation as a blocking or an asynchronous call.
//
// A blocking call lives on its caller's stack and borrows the caller's key and value. An
// asynchronous one owns copies, and itself until its callback has been handed on.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/read_clocks.h"
#include "client/calls/checks.h"
#include "client/client_impl.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {

// Found by measurement (docs/performance.md): the more keys, the later the answer; and who asks
// several nodes waits for the slowest.
constexpr unsigned yields_before_sleep(std::size_t keys, std::size_t nodes) noexcept {
  return nodes > 1 ? 0 : static_cast<unsigned>(16 / (1 + keys / 16));
}

template <class Op>
class BlockingCall final : private socket::Lane::Task, private socket::RequestSink {
 public:
  using Out = typename Op::Out;
  BlockingCall(Client::Impl& impl, const protocol::Operation& operation, Deadline started)
      : impl_(impl), started_(started) {
    request_.operation = operation;
    request_.sink = this;
  }
  Out wait() {
    impl_.lane().call(*this, waiter_);
    return std::move(*out_);
  }

 private:
  void run(Now now) override { impl_.cluster().start(request_, now); }
  void on_done(socket::Request&, const socket::Completion& completion) override {
    out_.emplace(Op::convert(completion, started_));
    impl_.lane().finish(waiter_);  // the caller may be gone from here on
  }

  Client::Impl& impl_;
  Deadline started_;
  socket::Request request_;
  socket::Lane::Waiter waiter_{yields_before_sleep(1, 1)};
  std::optional<Out> out_;
};

// Where an asynchronous call's result goes.
template <class Out>
struct Receiver {
  std::function<void(Out)> function;
  bool direct = false;  // a promise: no user code runs, so it may be called under the baton

  void deliver(runtime::Dispatcher& dispatcher, Out out) {
    if (direct) {
      function(std::move(out));
    } else {
      dispatcher.post([f = std::move(function), o = std::move(out)]() mutable { f(std::move(o)); });
    }
  }
};

// A receiver that fulfils a promise, and the future of it.
template <class Out>
std::pair<Receiver<Out>, std::future<Out>> promised() {
  auto promise = std::make_shared<std::promise<Out>>();
  auto future = promise->get_future();
  return {Receiver<Out>{[promise](Out out) { promise->set_value(std::move(out)); }, true},
          std::move(future)};
}

template <class Op>
class AsyncCall final : private socket::Lane::Task, private socket::RequestSink {
 public:
  using Out = typename Op::Out;
  static void begin(Client::Impl& impl, const protocol::Operation& operation, Deadline started,
                    Receiver<Out> receiver) {
    auto* call = new AsyncCall(impl, operation, started, std::move(receiver));
    impl.lane().post_async(*call);
  }

 private:
  AsyncCall(Client::Impl& impl, const protocol::Operation& operation, Deadline started,
            Receiver<Out> receiver)
      : impl_(impl),
        started_(started),
        key_(operation.key),
        value_(operation.value),
        fence_(operation.fence),
        version_(operation.version),
        receiver_(std::move(receiver)) {
    request_.operation = operation;
    request_.operation.key = key_;
    request_.operation.value = value_;
    request_.operation.fence = fence_;
    request_.operation.version = version_;
    request_.sink = this;
  }
  void run(Now now) override { impl_.cluster().start(request_, now); }
  void on_done(socket::Request&, const socket::Completion& completion) override {
    const std::unique_ptr<AsyncCall> self(this);
    impl_.lane().async_end();
    receiver_.deliver(impl_.dispatcher(), Op::convert(completion, started_));
  }

  Client::Impl& impl_;
  Deadline started_;
  std::string key_;
  std::string value_;
  std::string fence_;
  std::string version_;
  Receiver<Out> receiver_;
  socket::Request request_;
};

// The first of the checks that found something.
template <class... Checks>
std::optional<Error> first_of(Checks&&... checks) {
  std::optional<Error> found;
  ((found ? void() : void(found = std::forward<Checks>(checks))), ...);
  return found;
}

// Fills in the deadline; the error is the first reason not to start.
inline std::optional<Error> prepare(const Client::Impl& impl, protocol::Operation& operation,
                                    Deadline started, const Timeout& timeout, bool blocking,
                                    std::optional<Error> checked) {
  if (auto refused = impl.refusal(blocking)) return refused;
  if (checked) return checked;
  if (auto error = check_timeout(timeout)) return error;
  operation.deadline = impl.deadline(started, timeout);
  return std::nullopt;
}

template <class Op>
typename Op::Out call(Client::Impl& impl, protocol::Operation operation, const Timeout& timeout,
                      std::optional<Error> checked) {
  const Deadline started = read_monotonic();
  if (auto error = prepare(impl, operation, started, timeout, true, std::move(checked))) {
    return Failure(std::move(*error));
  }
  return BlockingCall<Op>(impl, operation, started).wait();
}

template <class Op>
void call_async(Client::Impl& impl, protocol::Operation operation, const Timeout& timeout,
                std::optional<Error> checked, Receiver<typename Op::Out> receiver) {
  const Deadline started = read_monotonic();
  if (auto error = prepare(impl, operation, started, timeout, false, std::move(checked))) {
    receiver.deliver(impl.dispatcher(), Failure(std::move(*error)));
    return;
  }
  AsyncCall<Op>::begin(impl, operation, started, std::move(receiver));
}

}  // namespace sheaf::client::calls
