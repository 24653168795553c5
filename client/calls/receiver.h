#pragma once

// Receiver: where the outcome of a detached call goes: to a callback on the dispatcher, or to a
// promise.
//
// Thread rule: deliver() once, by the thread that has the outcome.

#include <future>
#include <utility>

#include <sheaf/move_only_function.h>

#include "client/runtime/dispatcher.h"

namespace sheaf::client::calls {

template <class Out>
struct Receiver {
  MoveOnlyFunction<void(Out)> function;
  bool direct = false;  // a promise: no user code runs, so it may be called under the baton

  void deliver(runtime::Dispatcher& dispatcher, Out out) {
    if (direct) return function(std::move(out));
    dispatcher.deliver(
        [f = std::move(function), o = std::move(out)]() mutable { f(std::move(o)); });
  }
};

// A receiver that fulfils a promise, and the future of it.
template <class Out>
std::pair<Receiver<Out>, std::future<Out>> promised() {
  std::promise<Out> promise;
  auto future = promise.get_future();
  return {Receiver<Out>{[p = std::move(promise)](Out out) mutable { p.set_value(std::move(out)); },
                        true},
          std::move(future)};
}

}  // namespace sheaf::client::calls
