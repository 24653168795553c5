#pragma once

// The options of a session with a state store.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <string>

#include "base/random.h"
#include "protocol/login.h"
#include "protocol/statestore/client_ids.h"

namespace sheaf::protocol::statestore {

struct StoreSessionOptions {
  std::string client_id;  // complete and unique; a topic level: no `/`, `+`, `#`
  // Where the session takes its client ID from instead; null: it has `client_id`. Outlives it.
  ClientIds* exact_ids = nullptr;
  SessionUse use = SessionUse::requests;
  SharedLoginSlot login;
  std::chrono::milliseconds keep_alive{10'000};      // longest silence before a PINGREQ
  std::chrono::milliseconds answer_limit{5'000};     // for its answer
  std::chrono::milliseconds handshake_limit{5'000};  // from start() to ready
  bool over_tls = false;
  bool asks_store = true;  // a connection is ready once a store has answered over it
  std::uint64_t value_limit = 16u << 20;
  std::uint32_t max_in_flight = 512;  // 1 .. 65,534
  // This many PUBACKs may wait, for at most 20 ms, to be sent along with the next request: that
  // saves a system call here, and the broker handles the request before them.
  std::uint32_t held_acks = 8;
  Seed seed{};
};

}  // namespace sheaf::protocol::statestore
