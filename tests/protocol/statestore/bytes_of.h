#pragma once

// Byte strings from literals that contain NUL, and the bytes that a packet is encoded to.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/byte_writer.h"

namespace sheaf::protocol::statestore {

template <std::size_t N>
constexpr std::string_view raw(const char (&literal)[N]) {
  return {literal, N - 1};
}

template <class Packet, class... Arguments>
std::string bytes_of(const Packet& packet, Arguments... arguments) {
  std::string out;
  ByteWriter writer(out);
  packet.encode(writer, arguments...);
  return out;
}

}  // namespace sheaf::protocol::statestore
