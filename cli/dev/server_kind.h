#pragma once

// The kinds of servers that `sheaf dev` starts.
//
// Thread rule: plain values.

#include <cstdint>

namespace sheaf::cli {

enum class ServerKind : std::uint8_t { broker, memcached, redis, garnet };

struct ServerTraits {
  const char* option;   // that asks for them
  const char* noun;     // what one is called in sentences
  const char* scheme;   // of their URI
  bool forms_clusters;  // they are one cluster, and may have replicas
};

constexpr ServerTraits traits_of(ServerKind kind) noexcept {
  switch (kind) {
    case ServerKind::broker:
      break;
    case ServerKind::memcached:
      return {"--memcached", "server", "memcached://", false};
    case ServerKind::redis:
      return {"--redis", "server", "redis://", true};
    case ServerKind::garnet:
      return {"--garnet", "server", "redis://", true};
  }
  return {"--brokers", "broker", "mqtt://", false};
}

}  // namespace sheaf::cli
