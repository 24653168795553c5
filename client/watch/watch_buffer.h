#pragma once

// WatchBuffer: the events of one watch that wait to be taken. Beyond `limit` events it keeps only
// the newest state of each key, and a gap shows where events were left out. So it holds at most
// `limit` events and three for each key. If a key's `current` still waits, the key simply begins
// with its newest state.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time.

#include <deque>
#include <map>
#include <optional>
#include <string>

#include <sheaf/watch.h>

namespace sheaf::client::watch {

class WatchBuffer {
 public:
  using Time = decltype(WatchEvent::from);

  explicit WatchBuffer(std::size_t limit) : limit_(limit) {}

  void push(WatchEvent event, Time now);
  std::optional<WatchEvent> pop(Time now);
  bool empty() const noexcept { return events_.empty() && waiting_.empty(); }
  std::size_t size() const noexcept;  // in events

 private:
  // The events kept for a key while the queue is full.
  struct Slot {
    std::optional<WatchEvent> state;  // the newest one
    Time arrived;                     // when the newest state came
    std::optional<WatchEvent> failed;
    std::optional<WatchEvent> gap;  // begins at the first event that was left out
    bool lost = false;              // events were left out here

    // True if no event of the key has been taken yet.
    bool begins() const { return state && state->kind == WatchEvent::Kind::current; }
  };

  void fold(Slot& slot, WatchEvent event, Time now);
  static void lose(Slot& slot, const std::string& key, Time since);
  void unfold(Time now);

  std::size_t limit_;
  std::deque<WatchEvent> events_;
  std::map<std::string, Slot, std::less<>> slots_;
  std::deque<std::string> waiting_;  // keys of slots_, oldest first
};

}  // namespace sheaf::client::watch
