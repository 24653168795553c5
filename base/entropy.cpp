#include <sys/random.h>

#include "base/random.h"

namespace sheaf {

Seed entropy() noexcept {
  Seed seed{};
  auto* at = reinterpret_cast<std::byte*>(seed.data());
  std::size_t have = 0;
  while (have < sizeof seed) {
    const ssize_t got = getrandom(at + have, sizeof seed - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return seed;
}

}  // namespace sheaf
