#pragma once

// Where nodes and clusters report what is out of the ordinary. The client forwards it to the user's
// log sink; called under the baton, so it must only take note.

#include <string_view>

#include <sheaf/log.h>

namespace sheaf::node {

class Journal {
 public:
  virtual ~Journal() = default;
  // False: nobody listens, and records need not be made.
  virtual bool listening() const noexcept = 0;
  virtual void record(LogRecord record) = 0;
  // The key as it may appear in a log.
  virtual std::string show_key(std::string_view key) const = 0;
};

}  // namespace sheaf::node
