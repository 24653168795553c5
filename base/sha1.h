#pragma once

// SHA-1 (RFC 3174). It is broken as a cryptographic hash, but the ring of a memcached client uses
// it.

#include <array>
#include <cstdint>
#include <string_view>

namespace sheaf {

// The five numbers of the digest.
using Sha1 = std::array<std::uint32_t, 5>;
Sha1 sha1(std::string_view data) noexcept;

}  // namespace sheaf
