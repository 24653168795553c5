#pragma once

#include <coroutine>
#include <exception>
#include <future>
#include <utility>

namespace sheaf::test {

// A coroutine that does not know sheaf: it starts at once and fulfils a future.
template <class T>
class Task {
 public:
  class promise_type {
   public:
    Task get_return_object() { return Task(promise_.get_future()); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(T value) { promise_.set_value(std::move(value)); }
    void unhandled_exception() { promise_.set_exception(std::current_exception()); }

   private:
    std::promise<T> promise_;
  };
  explicit Task(std::future<T> future) : future_(std::move(future)) {}
  // Call one of the two, once: get() waits, future() gives the future away.
  T get() { return future_.get(); }
  std::future<T> future() { return std::move(future_); }

 private:
  std::future<T> future_;
};

}  // namespace sheaf::test
