#pragma once

// Timers of a loop: a binary heap of ours, because libuv fires its own before it reads, and after a
// pause of the process every peer would look dead (ARCHITECTURE.md, "Time").
//
// Thread rule: belongs to one loop.

#include <cstddef>
#include <memory>
#include <vector>

#include "socket/seam.h"

namespace sheaf::socket {

class TimerHeap {
 public:
  TimerHeap() = default;
  TimerHeap(const TimerHeap&) = delete;
  TimerHeap& operator=(const TimerHeap&) = delete;

  // The heap must outlive the timer.
  std::unique_ptr<Timer> make(TimerSink& sink);

  // `never` when no timer is set.
  Deadline earliest() const noexcept { return heap_.empty() ? never : heap_.front()->due; }

  // Fires every timer that was due when the call began, oldest first. A sink may set, cancel and
  // destroy any timer; one set again during the call waits for the next.
  void fire(Now now);

 private:
  class Entry;
  struct Node {
    Deadline due = never;
    std::size_t place = npos;
    TimerSink* sink = nullptr;
    std::uint64_t round = 0;  // of the fire() during which it was set
  };
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  void insert(Node& node);
  void remove(Node& node) noexcept;
  void place(std::size_t at, Node* node) noexcept;
  void sift_up(std::size_t at) noexcept;
  void sift_down(std::size_t at) noexcept;

  std::vector<Node*> heap_;
  std::uint64_t round_ = 0;
};

}  // namespace sheaf::socket
