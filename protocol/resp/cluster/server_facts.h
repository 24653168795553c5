#pragma once

// What a server of the Redis protocol says about itself: in its reply to HELLO, or to INFO where
// there is no HELLO.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>

#include "protocol/resp/cluster/topology_view.h"
#include "protocol/resp/wire/reply_tree.h"
#include "protocol/server_version.h"

namespace sheaf::protocol::resp {

enum class Software : std::uint8_t { unknown, redis, valkey, garnet };

struct ServerFacts {
  Software software = Software::unknown;
  // Its own. Garnet and Valkey also name the version of Redis that they stand for.
  std::optional<ServerVersion> version{};
  std::optional<Role> role{};
  bool cluster = false;
  std::uint8_t protocol = 2;  // of RESP, as of now

  bool is(Software which) const noexcept { return software == which; }
  bool at_least(Software which, const ServerVersion& wanted) const noexcept {
    return is(which) && version.value_or(ServerVersion{}) >= wanted;
  }
  friend bool operator==(const ServerFacts&, const ServerFacts&) = default;

  // A map or an array of pairs; what is missing or malformed stays unknown.
  static ServerFacts of_hello(const Value& reply);
  // Adds what the reply to INFO, any part of it, says.
  void add_info(std::string_view text);
};

}  // namespace sheaf::protocol::resp
