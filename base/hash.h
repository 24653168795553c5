#pragma once

// The only file that uses xxHash. The values are a wire contract: they place keys on nodes.

#include <array>
#include <cstdint>
#include <string_view>

namespace sheaf {

// XXH3, 64 bits.
std::uint64_t hash64(std::string_view data, std::uint64_t seed = 0) noexcept;
// XXH3, 128 bits: the low half, then the high half.
std::array<std::uint64_t, 2> hash128(std::string_view data) noexcept;
// XXH32.
std::uint32_t hash32(std::string_view data, std::uint32_t seed = 0) noexcept;

}  // namespace sheaf
