#pragma once

// PendingCompute: one run of a user's function that may end later, on any thread. The dispatcher
// begins it, a ComputeDone ends it, and the leader is informed under the baton, unless it has
// detached.
//
// | state   | event                        | then    |
// |---------|------------------------------|---------|
// | queued  | begin(), by the dispatcher   | begun   |
// | queued  | take_back(), by the leader   | taken   |
// | begun   | take_back()                  | begun   |
// | taken   | begin(): nothing runs        | taken   |
//
// Thread rule: begin() by the dispatcher; finish() from any thread, also after the client has gone;
// the rest under the baton.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <sheaf/result.h>

#include "base/mutex.h"
#include "client/runtime/context.h"
#include "client/runtime/fork_mark.h"

namespace sheaf::client::compute {

class PendingCompute final : public std::enable_shared_from_this<PendingCompute> {
 public:
  class Leader {
   public:
    // Called under the baton, at most once.
    virtual void on_made(Result<std::string> made, Now now) = 0;

   protected:
    ~Leader() = default;
  };

  PendingCompute(runtime::Context& context, Leader& leader);
  PendingCompute(const PendingCompute&) = delete;
  PendingCompute& operator=(const PendingCompute&) = delete;

  // True if the function must run.
  bool begin() noexcept { return leave_queue(State::begun); }
  // True: it has not begun and will not.
  bool take_back() noexcept { return leave_queue(State::taken); }
  // Only the first call counts. No effect in a forked child, or once the result is unwanted.
  void finish(Result<std::string> made);
  // Reports nothing more to the leader; a function that has not begun never begins.
  void detach() noexcept;

 private:
  enum class State : std::uint8_t { queued, begun, taken };
  bool leave_queue(State next) noexcept {
    State queued = State::queued;
    return state_.compare_exchange_strong(queued, next);
  }
  void arrive(Now now);

  const runtime::ForkMark process_;
  std::atomic<State> state_ = State::queued;
  sync::Mutex mutex_;  // its holder may use the lane, unless `context_` is null
  runtime::Context* context_ SHEAF_GUARDED_BY(mutex_);
  Leader* leader_ SHEAF_GUARDED_BY(mutex_);
  std::optional<Result<std::string>> made_ SHEAF_GUARDED_BY(mutex_);
};

}  // namespace sheaf::client::compute
