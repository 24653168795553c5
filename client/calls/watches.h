#pragma once

// Watches: decides which sinks are notified of changes to which keys. WatchRegistry implements it.
//
// Thread rule: under the baton.

#include <string_view>

#include "client/calls/watch_update.h"

namespace sheaf::client::calls {

class WatchSink {
 public:
  // May add and remove watches, even its own.
  virtual void on_update(std::string_view key, const WatchUpdate& update, Now now) = 0;

 protected:
  ~WatchSink() = default;
};

class Watches {
 public:
  // A sink watches a key at most once. No update comes before add() returns.
  virtual void add(std::string_view key, WatchSink& sink, WatchStart start, Now now) = 0;
  // No update of the key reaches the sink afterwards.
  virtual void remove(std::string_view key, WatchSink& sink, Now now) noexcept = 0;

 protected:
  ~Watches() = default;
};

}  // namespace sheaf::client::calls
