#pragma once

// StopLink: carries a request to stop from a token to the baton. It posts a task to the lane, and
// the task calls the target.
//
// The callback of a token may run on any thread, even while the work ends. It only posts, so
// ~StopLink can safely wait for it under the baton. After the link has ended, the target is not
// called: the callback is gone, and a task that it posted is cancelled.
//
// Thread rule: made and destroyed under the baton.

#include <stop_token>

#include "base/stop_callback.h"
#include "socket/lane/lane.h"

namespace sheaf::client::calls {

class StopTarget {
 public:
  // Called under the baton, at most once. May end the link.
  virtual void on_stop(Now now) = 0;

 protected:
  ~StopTarget() = default;
};

class StopLink {
 public:
  // If the token was stopped already, the target is called later in this turn.
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
