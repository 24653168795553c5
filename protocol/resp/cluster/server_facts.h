#pragma once

// What a server of the Redis protocol says about itself: in its reply to HELLO, or to INFO if it
// does not know HELLO.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/resp/cluster/topology_view.h"
#include "protocol/resp/wire/reply_tree.h"
#include "protocol/server_version.h"

namespace sheaf::protocol::resp {

enum class Software : std::uint8_t { unknown, redis, valkey, garnet };

struct ServerFacts {
  Software software = Software::unknown;
  // Its own. Garnet and Valkey also report a version of Redis that they are compatible with.
  std::optional<ServerVersion> version{};
  std::optional<Role> role{};
  bool cluster = false;
  std::uint8_t protocol = 2;  // current version of RESP
  std::string id{};           // in its cluster; empty if unknown

  bool is(Software which) const noexcept { return software == which; }
  bool at_least(Software which, const ServerVersion& wanted) const noexcept {
    return is(which) && version.value_or(ServerVersion{}) >= wanted;
  }
  friend bool operator==(const ServerFacts&, const ServerFacts&) = default;

  // "Garnet 2.2.5"; empty without a version.
  std::string name() const;

  // Reads a map or an array of pairs; missing or malformed facts stay unknown.
  static ServerFacts of_hello(const Value& reply);
  // Adds the facts in a reply to INFO, or in a part of one.
  void add_info(std::string_view text);
};

}  // namespace sheaf::protocol::resp
