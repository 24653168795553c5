#pragma once

// Acknowledgements: the PUBACKs that this client owes the server (QoS 1). No caller waits for them,
// so a few are held back briefly, to be sent along with a request. They also show how many messages
// the server has sent without an acknowledgement, which Receive Maximum limits.
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
  // Up to `held` PUBACKs may wait; `output` outlives this object.
  Acknowledgements(std::uint32_t held, OutputQueue& output) noexcept
      : held_(held), output_(output) {}

  // Adds the PUBACK of a message. Returns false if the message exceeds Receive Maximum (section
  // 4.9). May throw std::bad_alloc.
  bool add(std::uint16_t packet_id, Deadline now);
  // Queues the PUBACKs that wait. If there is no memory, they wait for the next call.
  void flush();

  // True if those that wait need no write of their own yet.
  bool may_wait() const noexcept;
  // When the PUBACKs that wait must be sent; `never` if there are none.
  Deadline due() const noexcept { return waiting_.empty() ? never : due_; }

 private:
  // Some PUBACKs in the output: their number, and the last frame that contains one.
  struct Queued {
    OutputQueue::FrameId last = 0;
    std::size_t count = 0;
  };
  void forget_written() noexcept;

  std::uint32_t held_;
  OutputQueue& output_;
  std::string waiting_;  // encoded
  Deadline due_{0};
  std::array<Queued, 2> queued_;  // those in the frame queued first, and all later ones
};

}  // namespace sheaf::protocol::statestore
