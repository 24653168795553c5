#pragma once

// MD5 (RFC 1321). Broken as a cryptographic hash; rings of memcached clients are built with it.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace sheaf {

using Md5 = std::array<std::uint8_t, 16>;
Md5 md5(std::string_view data) noexcept;
// The first of the four little-endian numbers of each text's MD5; many short texts at once are
// three times as fast as one by one.
void md5_first_words(std::span<const std::string_view> texts, std::span<std::uint32_t> words);

}  // namespace sheaf
