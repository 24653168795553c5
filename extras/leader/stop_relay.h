#pragma once

// StopRelay: while it lives, a stop request on a token becomes one on a source. So one call has
// several reasons to end.
//
// Thread rule: belongs to one thread at a time; made and destroyed without a mutex.

#include <optional>
#include <stop_token>
#include <utility>

#include "base/stop_callback.h"

namespace sheaf::leader {

class StopRelay final : private StopHandler {
 public:
  StopRelay(const std::stop_token& from, std::stop_source to) : to_(std::move(to)) {
    if (from.stop_possible()) callback_.emplace(from, handler());
  }
  StopRelay(const StopRelay&) = delete;
  StopRelay& operator=(const StopRelay&) = delete;
  ~StopRelay() = default;

 private:
  StopHandler& handler() noexcept { return *this; }
  void on_stop_requested() noexcept override { to_.request_stop(); }

  std::stop_source to_;
  std::optional<StopCallback> callback_;
};

}  // namespace sheaf::leader
