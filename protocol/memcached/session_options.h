#pragma once

// The options of a session with a memcached server.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>

#include "protocol/login.h"

namespace sheaf::protocol::memcached {

struct SessionOptions {
  SharedLoginSlot login;  // null, or without a user: the server must not require one
  std::chrono::milliseconds keep_alive{10'000};      // longest silence before a no-op
  std::chrono::milliseconds answer_limit{5'000};     // for its answer
  std::chrono::milliseconds handshake_limit{5'000};  // from start() to ready
  bool over_tls = false;
  std::uint64_t value_limit = 16u << 20;  // our own limit, in both directions
  std::uint64_t item_size = 1u << 20;     // the server's `-I`: above it, it deletes the old value
  std::uint32_t max_in_flight = 512;      // requests whose replies have not passed
  std::uint64_t output_limit = 4u << 20;  // no more requests while this many bytes wait
  // Ends the handshake with the version, without a log-in; the session then accepts no requests.
  // Finds out what a server is; afterwards the connection is useless.
  bool only_version = false;
  std::uint32_t first_opaque = 1;
};

}  // namespace sheaf::protocol::memcached
