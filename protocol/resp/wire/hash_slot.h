#pragma once

// The 16,384 slots of the Redis protocol's clusters. A key belongs to the slot given by the CRC of
// its routing key: CRC-16/XMODEM (polynomial 0x1021, from 0), the same on every server.
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstdint>
#include <string_view>

namespace sheaf::protocol::resp {

inline constexpr std::uint16_t slot_count = 16'384;

std::uint16_t crc16(std::string_view bytes) noexcept;
// Keys with the same {tag} share a slot.
std::uint16_t hash_slot(std::string_view key) noexcept;

}  // namespace sheaf::protocol::resp
