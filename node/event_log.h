#pragma once

// EventLog: takes the records that nodes make of abnormal replies and of changes of their health,
// and the events that they make of requests. The client forwards them to the user's log sink and
// observer.
//
// Thread rule: called under the lane's baton; it must not block and must not call back.

#include <string>
#include <string_view>

#include <sheaf/log.h>
#include <sheaf/observer.h>

namespace sheaf::node {

class EventLog {
 public:
  virtual ~EventLog() = default;
  // False: nobody listens, so no records need be made.
  virtual bool listening() const noexcept = 0;
  virtual void record(LogRecord record) = 0;
  // False: nobody wants to hear how requests end, so no events need be made.
  virtual bool observing() const noexcept { return false; }
  // A request has ended. Its `system` and `start` are still to be set.
  virtual void observe(RequestEvent /*event*/) {}
  // The key in the form in which it may appear in a log.
  virtual std::string show_key(std::string_view key) const = 0;
};

}  // namespace sheaf::node
