#pragma once

// EventLog: receives from nodes the records of abnormal replies and of health changes, and the
// events of requests. The client forwards them to the user's log sink and observer.
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
  // False: there is no log sink, so no records need be made.
  virtual bool listening() const noexcept = 0;
  virtual void record(LogRecord record) = 0;
  // False: there is no observer, so no events need be made.
  virtual bool observing() const noexcept { return false; }
  // A request has ended. The receiver sets the event's `system` and `start`.
  virtual void observe(RequestEvent /*event*/) {}  // NOLINT: receivers keep it
  // Returns the key as it may appear in a log.
  virtual std::string show_key(std::string_view key) const = 0;
};

}  // namespace sheaf::node
