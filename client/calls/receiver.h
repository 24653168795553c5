#pragma once

// Receiver: where the outcome of a detached call goes: to a callback on the dispatcher, or to a
// promise.
//
// Thread rule: deliver() once, by the thread that has the outcome.

#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "client/runtime/dispatcher.h"

namespace sheaf::client::calls {

template <class Out>
struct Receiver {
  std::function<void(Out)> function;
  bool direct = false;  // a promise: no user code runs, so it may be called under the baton

  void deliver(runtime::Dispatcher& dispatcher, Out out) {
    if (direct) return function(std::move(out));
    if constexpr (std::is_copy_constructible_v<Out>) {
      dispatcher.deliver(
          [f = std::move(function), o = std::move(out)]() mutable { f(std::move(o)); });
    } else {  // a job can be copied
      dispatcher.deliver([f = std::move(function), o = std::make_shared<Out>(std::move(out))] {
        f(std::move(*o));
      });
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

}  // namespace sheaf::client::calls
