#pragma once

// The options of a session of the Redis protocol.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>

#include "protocol/resp/greeting/handshake.h"

namespace sheaf::protocol::resp {

struct SessionOptions {
  HandshakeOptions handshake{};
  bool over_tls = false;
  std::chrono::milliseconds keep_alive{10'000};        // longest silence before a PING
  std::chrono::milliseconds answer_limit{5'000};       // for its answer
  std::chrono::milliseconds handshake_limit{5'000};    // from start() to ready
  std::chrono::milliseconds identity_interval{1'000};  // between two questions (identity_watch.h)
  std::uint64_t value_limit = 16u << 20;               // our own limit, in both directions
  std::uint32_t max_in_flight = 512;                   // requests whose replies have not passed
  std::uint64_t output_limit = 4u << 20;  // no more requests while this many bytes wait
};

}  // namespace sheaf::protocol::resp
