#pragma once

// Acknowledgements: the PUBACKs that this client owes the server (QoS 1). Nobody waits for them, so
// a few wait for a request to travel with, for a moment at most. They also show how many messages
// the server has sent without an acknowledgement, which is bounded by Receive Maximum.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "protocol/output_queue.h"

namespace sheaf::protocol::statestore {

// Messages with QoS 1 that the server may send before it has their PUBACKs.
inline constexpr std::uint16_t receive_maximum = 65'535;

class Acknowledgements {
 public:
  // Up to `held` may wait; `output` outlives it.
  Acknowledgements(std::uint32_t held, OutputQueue& output) noexcept
      : held_(held), output_(output) {}

  // A message has come. False if it is one more than Receive Maximum allows (section 4.9). May
  // throw std::bad_alloc.
  bool add(std::uint16_t packet_id, Deadline now);
  // Queues those that wait. Without memory they wait for the next time.
  void flush();

  // True if those that wait need no write of their own yet.
  bool may_wait() const noexcept;
  // When they may wait no longer; `never` if there are none.
  Deadline due() const noexcept { return waiting_.empty() ? never : due_; }

 private:
  // Some PUBACKs in the output: how many, and the last frame that has some of them.
  struct Queued {
    OutputQueue::FrameId last = 0;
    std::size_t count = 0;
  };
  void forget_written() noexcept;

  std::uint32_t held_;
  OutputQueue& output_;
  std::string waiting_;  // encoded
  Deadline due_{0};
  std::array<Queued, 2> queued_;  // those that were queued first, and all after them
};

}  // namespace sheaf::protocol::statestore
