#pragma once

// MD5 (RFC 1321). Broken as a cryptographic hash; rings of memcached clients are built with it.

#include <array>
#include <cstdint>
#include <string_view>

namespace sheaf {

using Md5 = std::array<std::uint8_t, 16>;
Md5 md5(std::string_view data) noexcept;

}  // namespace sheaf
