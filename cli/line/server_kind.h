#pragma once

// The kinds of servers that `sheaf dev` starts, as a table.
//
// Thread rule: plain values.

#include <array>
#include <cstdint>

namespace sheaf::cli {

enum class ServerKind : std::uint8_t { broker, memcached, redis, valkey, garnet };

struct ServerTraits {
  ServerKind kind;
  const char* option;   // that asks for this kind
  const char* noun;     // the word for one in sentences
  const char* scheme;   // of the servers' URI
  bool forms_clusters;  // the servers form one cluster, and may have replicas
  // The rest is only for those:
  bool has_bus = false;    // the servers reach each other on a second port
  const char* program{};   // the program to run
  const char* named_by{};  // the variable that may name another program
  const char* install{};   // how to install it
};

inline constexpr std::array server_kinds{
    ServerTraits{ServerKind::broker, "--brokers", "broker", "mqtt://", false},
    ServerTraits{ServerKind::memcached, "--memcached", "server", "memcached://", false},
    ServerTraits{ServerKind::redis, "--redis", "server", "redis://", true, true, "redis-server",
                 "REDIS_SERVER", "Debian: redis-server"},
    ServerTraits{ServerKind::valkey, "--valkey", "server", "redis://", true, true, "valkey-server",
                 "VALKEY_SERVER", "Debian 13: valkey-server"},
    ServerTraits{ServerKind::garnet, "--garnet", "server", "redis://", true, false, "garnet-server",
                 "GARNET_SERVER", "dotnet tool install --global garnet-server"}};

constexpr const ServerTraits& traits_of(ServerKind kind) noexcept {
  return server_kinds[static_cast<std::size_t>(kind)];
}

// Each row must be at the index of its kind.
static_assert([] {
  for (const ServerTraits& row : server_kinds) {
    if (&traits_of(row.kind) != &row) return false;
  }
  return true;
}());

}  // namespace sheaf::cli
