#include <algorithm>
#include <utility>

#include <sheaf/driver.h>

#include "base/read_clocks.h"
#include "base/stop_callback.h"
#include "client/runtime/driver_state.h"

namespace sheaf {
inline namespace v0 {
namespace {

class EndsWait final : public StopHandler {
 public:
  void on_stop_requested() noexcept override { end_.end(); }
  const socket::WaitEnd& end() const noexcept { return end_; }

 private:
  socket::WaitEnd end_;
};

}  // namespace

Driver::Driver() : state_(std::make_shared<State>()) {}
Driver::~Driver() { state_->close(); }

int Driver::descriptor() const noexcept { return state_->descriptor(); }

std::optional<std::chrono::nanoseconds> Driver::timeout() const {
  const Deadline due = state_->due();
  if (due == never) return std::nullopt;
  return std::max(due - read_monotonic(), std::chrono::nanoseconds(0));
}

std::size_t Driver::poll() { return state_->poll(); }

bool Driver::run_one(std::optional<std::chrono::nanoseconds> wait) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours(24 * 365);
  const Deadline until =
      wait ? read_monotonic() + std::clamp<std::chrono::nanoseconds>(*wait, {}, longest) : never;
  if (!state_->wait_until(until)) return false;
  state_->poll();
  return true;
}

void Driver::run(const std::stop_token& stop) {
  EndsWait handler;
  const StopCallback callback(stop, handler);
  while (!stop.stop_requested() && !state_->forked()) {
    if (state_->wait_until(never, &handler.end())) state_->poll();
  }
}

void Driver::post(MoveOnlyFunction<void()> task) { state_->post(std::move(task)); }

std::function<void(std::function<void()>)> Driver::executor() const {
  return [state = state_](std::function<void()> task) { state->post(std::move(task)); };
}

}  // namespace v0
}  // namespace sheaf
