#pragma once

// What a session with a state store may be configured to.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <string>

#include "base/random.h"
#include "protocol/login.h"

namespace sheaf::protocol::statestore {

struct StoreSessionOptions {
  std::string client_id;  // whole and unique; a topic level: no `/`, `+`, `#`
  SharedLoginSlot login;
  std::chrono::milliseconds keep_alive{10'000};      // longest silence before a PINGREQ
  std::chrono::milliseconds answer_limit{5'000};     // for its answer
  std::chrono::milliseconds handshake_limit{5'000};  // from start() to ready
  std::uint64_t value_limit = 16u << 20;
  std::uint32_t max_in_flight = 512;  // 1 .. 65,534
  // So many PUBACKs may wait for the next request to travel with, 20 ms at most: one system call
  // less here and one packet less in the broker's way.
  std::uint32_t held_acks = 8;
  Seed seed{};
};

}  // namespace sheaf::protocol::statestore
