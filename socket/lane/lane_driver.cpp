#include "socket/lane/lane_driver.h"

#include <algorithm>

#include "socket/lane/lane.h"

namespace sheaf::socket {

void LaneDriver::add(Lane& lane, const DrivenLoop& loop) {
  const sync::MutexLock lock(lanes_mutex_);
  lanes_.reserve(lanes_.size() + 1);
  signal_.watch(loop);
  lanes_.push_back(&lane);
}

void LaneDriver::remove(Lane& lane, const DrivenLoop& loop) noexcept {
  const sync::MutexLock lock(lanes_mutex_);
  if (std::erase(lanes_, &lane) > 0) signal_.forget(loop);
}

std::size_t LaneDriver::poll() {
  if (signal_.forked()) return 0;
  {
    const sync::MutexLock lock(lanes_mutex_);
    signal_.clear();
    Deadline due = never;
    for (Lane* const lane : lanes_) due = std::min(due, lane->poll());
    due_ = due;
    signal_.ring_at(due);
  }
  return tasks_.run([this](std::size_t left) {
    if (left > 0) notify();
  });
}

}  // namespace sheaf::socket
