#pragma once

// EventLog: takes the records that nodes make of abnormal replies and of changes of their health.
// The client forwards them to the user's log sink.
//
// Thread rule: called under the lane's baton; it must not block and must not call back.

#include <string>
#include <string_view>

#include <sheaf/log.h>

namespace sheaf::node {

class EventLog {
 public:
  virtual ~EventLog() = default;
  // False: nobody listens, so no records need be made.
  virtual bool listening() const noexcept = 0;
  virtual void record(LogRecord record) = 0;
  // The key in the form in which it may appear in a log.
  virtual std::string show_key(std::string_view key) const = 0;
};

}  // namespace sheaf::node
