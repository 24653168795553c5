#pragma once

// Rivals: the items of other holders that a client has seen on memcached, remembered from one
// attempt at a lock to the next. So a client that tries again and again, each time briefly, notices
// too that an item was not renewed for its lease (cas_lock_key.h).
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: under the baton of one lane.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sheaf::client::lock {

class Rivals {
 public:
  // Beyond these a lock is forgotten, which only makes a client wait longer for it.
  static constexpr std::size_t most_locks = 1024;

  // True if another holder had the lock when it was last asked for.
  bool has(std::string_view lock) const { return items_.contains(lock); }
  // Another holder has the lock; its item was not looked at.
  void note(std::string_view lock);
  // The lock's item was seen on that connection. Returns the time at which it will have been the
  // same for `wait`, or `never` without one. On another connection the wait begins again: a server
  // that has restarted counts versions from 1 again.
  Deadline note(std::string_view lock, std::uint64_t connection, std::string_view version,
                std::optional<std::chrono::nanoseconds> wait, Now now);
  void forget(std::string_view lock);

 private:
  struct Item {
    std::uint64_t connection = 0;
    std::string version;
    Deadline free_at = never;
  };
  Item& item(std::string_view lock);

  std::map<std::string, Item, std::less<>> items_;
};

}  // namespace sheaf::client::lock
