#pragma once

// The events of one watch that wait to be taken. Bounded: beyond `limit` only the newest state of
// each key is kept, and where something was left out a gap says so. Memory: limit + 3 for each key.
//
// Thread rule: one thread at a time. Pure: the time is an argument.

#include <deque>
#include <map>
#include <optional>
#include <string>

#include <sheaf/watch.h>

namespace sheaf::client::watch {

class WatchBuffer {
 public:
  using Time = std::chrono::system_clock::time_point;

  explicit WatchBuffer(std::size_t limit) : limit_(limit) {}

  void push(WatchEvent event, Time now);
  std::optional<WatchEvent> pop(Time now);
  bool empty() const noexcept { return events_.empty() && waiting_.empty(); }
  // How many events are held.
  std::size_t size() const noexcept;

 private:
  // What is kept of a key while the queue is full.
  struct Slot {
    std::optional<WatchEvent> state;  // the newest
    Time arrived;                     // of it
    std::optional<WatchEvent> failed;
    std::optional<WatchEvent> gap;  // from the first that was left out
    bool lost = false;              // something was left out here
  };

  void fold(Slot& slot, WatchEvent event, Time now);
  static void lose(Slot& slot, const std::string& key, Time since);
  void unfold(Time now);

  std::size_t limit_;
  std::deque<WatchEvent> events_;
  std::map<std::string, Slot, std::less<>> slots_;
  std::deque<std::string> waiting_;  // keys of slots_, in the order in which they came
};

}  // namespace sheaf::client::watch
