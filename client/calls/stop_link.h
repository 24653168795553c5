#pragma once

// StopLink: carries a request to stop from a token to the baton: it posts a task to the lane, and
// the task calls the target.
//
// The callback of a token may run on any thread, also while the work ends. It does nothing but
// post, so it is safe to wait for it under the baton, as ~StopLink does. After the end of the link
// the target is not called: the callback is gone, and what it had posted is taken back.
//
// Thread rule: made and ended under the baton.

#include <stop_token>

#include "base/stop_callback.h"
#include "socket/lane/lane.h"

namespace sheaf::client::calls {

class StopTarget {
 public:
  // Under the baton, at most once. May end the link.
  virtual void on_stop(Now now) = 0;

 protected:
  ~StopTarget() = default;
};

class StopLink {
 public:
  // Of a token that was stopped before, the target hears later in this turn.
  StopLink(socket::Lane& lane, StopTarget& target, const std::stop_token& token)
      : message_(lane, target), callback_(token, message_) {}

 private:
  class Message final : public socket::Lane::Task, public StopHandler {
   public:
    Message(socket::Lane& lane, StopTarget& target) : lane_(lane), target_(target) {}
    ~Message() { lane_.cancel(*this); }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

   private:
    void on_stop_requested() noexcept override { lane_.post(*this); }
    void run(Now now) override { target_.on_stop(now); }

    socket::Lane& lane_;
    StopTarget& target_;
  };

  Message message_;
  StopCallback callback_;  // ends before the message
};

}  // namespace sheaf::client::calls
