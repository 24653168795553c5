#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sheaf {

std::uint64_t hash64(std::string_view data, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

std::array<std::uint64_t, 2> hash128(std::string_view data) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(data.data(), data.size());
  return {hash.low64, hash.high64};
}

std::uint32_t hash32(std::string_view data, std::uint32_t seed) noexcept {
  return XXH32(data.data(), data.size(), seed);
}

}  // namespace sheaf
