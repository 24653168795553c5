#pragma once

// SegmentCache: the few segments that a writer has read or written last. A segment never changes,
// so a known one is not read again, except from a store that may have lost its memory.
//
// Pure: no socket, clock, entropy, thread or callback.
//
// Thread rule: one thread at a time; under the baton.

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "client/list/edit.h"

namespace sheaf::client::list {

class SegmentCache {
 public:
  // Takes Register::incarnation(). If it has changed, all segments are forgotten.
  void use(std::uint64_t incarnation) {
    if (std::exchange(incarnation_, incarnation) != incarnation) segments_.clear();
  }
  // Adds a segment; when the cache is full, the oldest one is dropped.
  void add(NewSegment segment) {
    segments_.push_front(std::move(segment));
    if (segments_.size() > most) segments_.pop_back();
  }
  // Null if the segment is not known or its size differs from the one in the head.
  const std::vector<Id>* find(const SegmentRef& ref) const {
    const auto found = std::ranges::find_if(segments_, [&](const NewSegment& segment) {
      return segment.id == ref.id && segment.ids.size() == ref.count;
    });
    return found == segments_.end() ? nullptr : &found->ids;
  }

 private:
  static constexpr std::size_t most = 4;

  std::uint64_t incarnation_ = 0;
  std::deque<NewSegment> segments_;
};

}  // namespace sheaf::client::list
