#pragma once

// SHA-1 (RFC 3174). It is broken as a cryptographic hash, but the ring of a memcached client uses
// it.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace sheaf {

// The five numbers of the digest.
using Sha1 = std::array<std::uint32_t, 5>;
Sha1 sha1(std::string_view data) noexcept;
// Writes the first number of each text's digest. Hashing many short texts in one call is several
// times as fast as one by one.
void sha1_first_words(std::span<const std::string_view> texts, std::span<std::uint32_t> words);

}  // namespace sheaf
