#pragma once

// Work: something that runs under the baton and ends once, such as an operation, a batch or a
// procedure. There are two ways to wait for it:
//
//   Blocking   a caller waits for it; both are on that caller's stack
//   Detached   a callback or a promise gets its outcome; it owns itself until then (detached.h)
//
// A Work is made with a WorkEnd& as its first argument, and has
//   using Out                its outcome
//   void start(Now)          under the baton, once; it may end before start() returns
//   void prepare()           optional: called by the caller of a detached Work before start(), for
//                            preparations that do not need the baton
//   void cancel(Now)         under the baton, at most once, between start() and the end: ends it as
//                            its deadline would, with Reason::cancelled, and at once. Required only
//                            if the caller may give a stop token
//   Out take()               once, after the end
//   static constexpr bool idles = true   optional: it may wait forever, as for an event, so the
//                            lane does not count it as work in flight
// It calls WorkEnd::ended() once, as the last thing that it does: that may destroy it.
//
// Thread rule: made by the caller, then under the baton; take() of a Blocking by the caller.

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <sheaf/options.h>

#include "client/calls/stop_link.h"
#include "client/runtime/context.h"
#include "socket/lane/post.h"

namespace sheaf::client::calls {

class WorkEnd {
 public:
  // Called under the baton.
  virtual void ended() = 0;
  // True if the caller that waits holds the baton itself: then the work exists until the end of the
  // turn in which it ends.
  virtual bool caller_drives() const noexcept { return false; }

 protected:
  ~WorkEnd() = default;
};

// How a caller waits. The number of yields was measured (docs/design/0010-spinning.md): more keys
// take longer to answer, and a caller that asks several nodes waits for the slowest.
struct HowToWait {
  unsigned yields = 0;  // how often the caller yields the processor before it sleeps
  socket::Wait wait = socket::Wait::spin;

  static constexpr HowToWait for_keys(std::size_t keys, std::size_t nodes) noexcept {
    return {nodes > 1 ? 0 : static_cast<unsigned>(6 / (1 + keys / 16))};
  }
};

template <class Work>
void cancel(Work& work, Now now) {
  if constexpr (requires { work.cancel(now); }) work.cancel(now);
}

template <class Work>
class Blocking final : private socket::Lane::Task, private WorkEnd, private StopTarget {
 public:
  using Out = typename Work::Out;

  template <class... Args>
  explicit Blocking(socket::Lane& lane, HowToWait how, Args&&... args)
      : lane_(lane),
        waiter_(how.yields, how.wait),
        work_(static_cast<WorkEnd&>(*this), std::forward<Args>(args)...) {}

  Out wait(Stop stop = nullptr) {
    stop_ = stop;
    lane_.call(*this, waiter_);
    return work_.take();
  }
  const Work& work() const noexcept { return work_; }

 private:
  void run(Now now) override {
    if (stop_ != nullptr && stop_->stop_possible()) link_.emplace(lane_, target(), *stop_);
    work_.start(now);
  }
  StopTarget& target() noexcept { return *this; }
  void on_stop(Now now) override { cancel(work_, now); }
  void ended() override {
    link_.reset();
    lane_.finish(waiter_);
  }
  bool caller_drives() const noexcept override { return lane_.drives(waiter_); }

  socket::Lane& lane_;
  socket::Lane::Waiter waiter_;
  Work work_;
  Stop stop_ = nullptr;
  std::optional<StopLink> link_;
};

using socket::post;

}  // namespace sheaf::client::calls
