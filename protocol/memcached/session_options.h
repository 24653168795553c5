#pragma once

// What a session with a memcached server may be configured to.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>

#include "protocol/login.h"

namespace sheaf::protocol::memcached {

struct SessionOptions {
  SharedLoginSlot login;  // null, or without a user: the server must not want one
  std::chrono::milliseconds keep_alive{10'000};      // longest silence before a no-op
  std::chrono::milliseconds answer_limit{5'000};     // for its answer
  std::chrono::milliseconds handshake_limit{5'000};  // from start() to ready
  std::uint64_t value_limit = 16u << 20;             // our own, both ways
  std::uint64_t item_size = 1u << 20;     // the server's `-I`: above it, it deletes what it had
  std::uint32_t max_in_flight = 512;      // requests whose replies have not passed
  std::uint64_t output_limit = 4u << 20;  // no more requests while so many bytes wait
  // Ready with the version, without a log-in; takes no requests. To find out what a server is; the
  // connection is of no use afterwards.
  bool only_version = false;
  std::uint32_t first_opaque = 1;
};

}  // namespace sheaf::protocol::memcached
