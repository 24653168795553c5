#pragma once

// WatchUpdate: the notification that the watchers of a key get.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string_view>

#include <sheaf/watch.h>

#include "base/clock.h"

namespace sheaf::client::calls {

// One event of one key, as WatchEvent describes it. Views live during the call that delivers it.
struct WatchUpdate {
  WatchEvent::Kind kind = WatchEvent::Kind::current;
  std::optional<std::string_view> value;  // current, set; current without a value: absent
  std::string_view version;               // empty = the endpoint sent none
  Now from;                               // gap
  Now until;                              // gap
  const Error* error = nullptr;           // failed
};

// The notifications that a new watcher gets.
enum class WatchStart : std::uint8_t {
  quiet,   // changes only
  current  // the current state first, then changes
};

}  // namespace sheaf::client::calls
