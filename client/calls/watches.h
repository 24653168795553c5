#pragma once

// Watches: who wants to hear of changes to which keys. WatchHub is the real one.
//
// Thread rule: under the baton.

#include <optional>
#include <string_view>

#include <sheaf/result.h>

#include "base/clock.h"

namespace sheaf::client::calls {

// What is told of a watched key. Views live during the call.
struct WatchNews {
  enum class Kind : std::uint8_t {
    current,  // what the key holds now that it is watched; `value` empty = absent
    set,      // it was written; `value` holds
    deleted,  // it was removed, or its life is over
    changed,  // something happened to it that we cannot read
    gap,      // between `from` and `until` nothing could be heard; what was missed follows
    failed    // it is not watched: see `error`; tried again after a while unless `permanent`
  };
  Kind kind = Kind::current;
  std::optional<std::string_view> value;
  std::string_view version;  // empty = none told
  Now from;                  // gap
  Now until;                 // gap
  const Error* error = nullptr;
  bool permanent = false;
};

class WatchSink {
 public:
  // May add and remove watches, its own too.
  virtual void on_news(std::string_view key, const WatchNews& news, Now now) = 0;

 protected:
  ~WatchSink() = default;
};

enum class WatchStart : std::uint8_t {
  quiet,   // changes only
  current  // first what the key holds
};

class Watches {
 public:
  // A sink watches a key at most once. News never come before add() returns.
  virtual void add(std::string_view key, WatchSink& sink, WatchStart start, Now now) = 0;
  // No news of the key reach the sink any more.
  virtual void remove(std::string_view key, WatchSink& sink, Now now) noexcept = 0;

 protected:
  ~Watches() = default;
};

}  // namespace sheaf::client::calls
