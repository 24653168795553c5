#pragma once

// StopCallback: calls a handler when a stop token is asked to stop. It is std::stop_callback with
// its functions in a file of their own, so that the simulator can replace them
// (docs/design/0019-link-seams.md): its destructor waits for a handler that another thread runs,
// and the simulator must see every wait.
//
// Thread rule: the handler runs on the thread that requests the stop, or in the constructor if the
// stop was requested before. It does not run after the destructor, which must not be called with a
// mutex that the handler takes.

#include <stop_token>

namespace sheaf {

class StopHandler {
 public:
  virtual void on_stop_requested() noexcept = 0;

 protected:
  ~StopHandler() = default;
};

class StopCallback {
 public:
  // The handler must outlive the callback.
  StopCallback(const std::stop_token& token, StopHandler& handler);
  ~StopCallback();
  StopCallback(const StopCallback&) = delete;
  StopCallback& operator=(const StopCallback&) = delete;

 private:
  struct Call {
    StopCallback& callback;
    void operator()() const noexcept;
  };
  StopHandler& handler_;
  std::stop_callback<Call> callback_;
};

}  // namespace sheaf
