#pragma once

// ReplyReader: reads a reply, once its request is known.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "protocol/mqtt5/packets.h"
#include "protocol/session.h"
#include "protocol/statestore/clock.h"
#include "protocol/statestore/packets.h"
#include "protocol/statestore/properties.h"
#include "protocol/statestore/request_table.h"

namespace sheaf::protocol::statestore {

class ReplyReader {
 public:
  // `clock` and `counters` outlive this object.
  ReplyReader(std::uint64_t value_limit, HybridClock& clock, Counters& counters) noexcept
      : value_limit_(value_limit), clock_(clock), counters_(counters) {}

  // The answer to the question, or the error in its place. Views are into the packet's bytes.
  std::expected<Reply, Fault> read(Question question, const mqtt5::Publish& publish,
                                   std::chrono::milliseconds wall);

 private:
  void read_timestamp(Question question, std::string_view text, std::chrono::milliseconds wall,
                      Reply& reply);

  std::uint64_t value_limit_;
  HybridClock& clock_;
  Counters& counters_;
};

}  // namespace sheaf::protocol::statestore
