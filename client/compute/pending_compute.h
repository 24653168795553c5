#pragma once

// PendingCompute: one run of a user's function that may end later, on any thread. The dispatcher
// begins it, a ComputeDone ends it, and the computation is informed under the baton, unless it has
// detached.
//
// | state   | event                           | then    |
// |---------|---------------------------------|---------|
// | queued  | run(), by the dispatcher        | begun   |
// | queued  | take_back(), by the computation | taken   |
// | begun   | take_back()                     | begun   |
// | taken   | run(): nothing runs             | taken   |
//
// Thread rule: run() by the dispatcher; finish() from any thread, also after the client has gone;
// the rest under the baton.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <sheaf/async.h>
#include <sheaf/result.h>

#include "base/fork_mark.h"
#include "base/mutex.h"
#include "client/runtime/context.h"

namespace sheaf::client::compute {

class Computation;

class PendingCompute final : public std::enable_shared_from_this<PendingCompute> {
 public:
  PendingCompute(runtime::Context& context, Computation& computation);
  PendingCompute(const PendingCompute&) = delete;
  PendingCompute& operator=(const PendingCompute&) = delete;

  // What the function throws goes to the dispatcher; its ComputeDone is destroyed by then.
  void run(const AsyncCompute& function);
  // True: it has not begun and will not.
  bool take_back() noexcept { return leave_queue(State::taken); }
  // Only the first call counts. No effect in a forked child, or once the result is unwanted.
  void finish(Result<std::string> made);
  // Reports nothing more; a function that has not begun never begins.
  void detach() noexcept;

 private:
  enum class State : std::uint8_t { queued, begun, taken };
  bool leave_queue(State next) noexcept {
    State queued = State::queued;
    return state_.compare_exchange_strong(queued, next);
  }
  void arrive(Now now);

  const ForkMark process_;
  std::atomic<State> state_ = State::queued;
  sync::Mutex mutex_;  // its holder may use the lane, unless `context_` is null
  runtime::Context* context_ SHEAF_GUARDED_BY(mutex_);
  Computation* computation_ SHEAF_GUARDED_BY(mutex_);
  std::optional<Result<std::string>> made_ SHEAF_GUARDED_BY(mutex_);
};

// What the copies of a ComputeDone share. If the last of them is destroyed before the function has
// ended, the function has failed. Thread rule: any thread.
class DoneHandle {
 public:
  explicit DoneHandle(std::shared_ptr<PendingCompute> its_pending) noexcept
      : pending(std::move(its_pending)) {}
  ~DoneHandle();
  DoneHandle(const DoneHandle&) = delete;
  DoneHandle& operator=(const DoneHandle&) = delete;

  const std::shared_ptr<PendingCompute> pending;
};

}  // namespace sheaf::client::compute
