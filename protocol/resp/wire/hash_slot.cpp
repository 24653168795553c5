// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/resp/wire/hash_slot.h"

#include <array>
#include <cstddef>

#include "base/routing_key.h"

namespace sheaf::protocol::resp {
namespace {

constexpr std::uint16_t polynomial = 0x1021;
constexpr std::size_t stride = 8;  // bytes of one step

// tables[n][b]: what the byte b contributes to the CRC when n more bytes follow it.
using Tables = std::array<std::array<std::uint16_t, 256>, stride>;

consteval Tables make_tables() {
  Tables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? polynomial : 0u)) & 0xffff;
    }
    tables[0][byte] = static_cast<std::uint16_t>(crc);
  }
  for (std::size_t n = 1; n < stride; ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const unsigned before = tables[n - 1][byte];
      tables[n][byte] = static_cast<std::uint16_t>(before << 8 ^ tables[0][before >> 8]);
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

// Eight bytes in one step (slicing): the look-ups are independent of each other.
std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned crc = 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  for (; bytes.size() >= stride; bytes.remove_prefix(stride)) {
    crc = tables[7][byte(0) ^ crc >> 8] ^ tables[6][byte(1) ^ (crc & 0xff)] ^ tables[5][byte(2)] ^
          tables[4][byte(3)] ^ tables[3][byte(4)] ^ tables[2][byte(5)] ^ tables[1][byte(6)] ^
          tables[0][byte(7)];
  }
  for (; !bytes.empty(); bytes.remove_prefix(1)) {
    crc = (crc << 8 ^ tables[0][byte(0) ^ crc >> 8]) & 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

std::uint16_t hash_slot(std::string_view key) noexcept {
  return crc16(routing_key(key)) & (slot_count - 1);
}

}  // namespace sheaf::protocol::resp
