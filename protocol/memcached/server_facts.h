#pragma once

// What a session has learned about its server.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>

#include "protocol/memcached/rules.h"

namespace sheaf::protocol::memcached {

// The protocol that a server turned out to speak.
enum class Dialect : std::uint8_t {
  unknown,         // no answer yet; a server never answers the wrong protocol
  this_one,        // it answered in the session's protocol
  text,            // text, and not binary
  text_and_log_in  // text after a log-in (-Y), and not binary
};

struct ServerFacts {
  std::optional<ServerVersion>
      version;  // none before the server has named it, or if it is unreadable
  Dialect dialect = Dialect::unknown;

  bool at_least(const ServerVersion& wanted) const noexcept {
    return version.value_or(ServerVersion{}) >= wanted;
  }
};

}  // namespace sheaf::protocol::memcached
