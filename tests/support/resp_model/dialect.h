#pragma once

// The software whose behaviour a model cluster has. Servers of the Redis protocol differ in texts,
// in forms of replies and in a few rules.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string>

namespace sheaf::test::resp_model {

enum class Software : std::uint8_t { redis, garnet };

struct Dialect {
  Software software = Software::redis;
  std::string version = "7.0.15";
  bool has_hello = true;     // false for Redis 5
  bool has_setinfo = false;  // CLIENT SETINFO: since Redis 7.2
  // Garnet before June 2024 answers a write to an existing key in a slot that migrates away with
  // the bare line "-MIGRATING".
  bool bare_migrating = false;

  bool is_garnet() const { return software == Software::garnet; }
};

inline Dialect garnet() {
  return {.software = Software::garnet, .version = "2.2.8", .has_setinfo = true};
}

}  // namespace sheaf::test::resp_model
