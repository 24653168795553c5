// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/acknowledgements.h"

#include <new>
#include <utility>

#include "protocol/mqtt5/packets.h"

namespace sheaf::protocol::statestore {
namespace {

using namespace std::chrono_literals;

constexpr Deadline longest_wait = 20ms;
constexpr std::size_t packet_size = 4;

}  // namespace

bool Acknowledgements::add(std::uint16_t packet_id, Deadline now) {
  if (waiting_.empty()) due_ = now + longest_wait;
  ByteWriter out(waiting_);
  mqtt5::Puback{packet_id, mqtt5::ReasonCode::success, {}}.encode(out);
  forget_written();
  // The counts may be up to twice the real number, hence the factor.
  const std::size_t unsent = queued_[0].count + queued_[1].count + waiting_.size() / packet_size;
  return unsent <= std::size_t{2} * receive_maximum;
}

// Two counts serve any number of frames: one for the frame that was queued first, one for all later
// ones, which is dropped when the last of them has left.
void Acknowledgements::flush() {
  if (waiting_.empty()) return;
  try {
    output_.reserve(waiting_.size());
  } catch (const std::bad_alloc&) {
    return;
  }
  forget_written();
  output_.buffer().append(waiting_);
  Queued& queued = queued_[queued_[0].count > 0 ? 1 : 0];
  queued = {output_.end(), queued.count + waiting_.size() / packet_size};
  waiting_.clear();
}

bool Acknowledgements::may_wait() const noexcept {
  return waiting_.size() < held_ * packet_size && output_.empty();
}

void Acknowledgements::forget_written() noexcept {
  for (std::size_t i = 0; i < queued_.size(); ++i) {
    if (queued_[0].count == 0) return;
    if (output_.progress(queued_[0].last) != OutputQueue::Progress::written) return;
    queued_[0] = std::exchange(queued_[1], {});
  }
}

}  // namespace sheaf::protocol::statestore
