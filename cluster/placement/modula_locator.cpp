// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/modula_locator.h"

#include "base/checks.h"
#include "cluster/placement/key_hashes.h"

namespace sheaf::cluster {

ModulaLocator::ModulaLocator(std::span<const NodeConfig> nodes)
    : count_(static_cast<std::uint32_t>(nodes.size())) {
  SHEAF_CHECK(!nodes.empty());
}

Location ModulaLocator::locate(std::string_view key) const noexcept {
  return {one_at_a_time(key) % count_, 0};
}

std::uint32_t ModulaLocator::stand_in(std::string_view key,
                                      const NodeFilter& filter) const noexcept {
  const std::uint32_t owner = locate(key).node;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint32_t node = (owner + i) % count_;
    if (filter.takes(node)) return node;
  }
  return owner;
}

double ModulaLocator::share(std::uint32_t /*node*/) const noexcept { return 1.0 / count_; }

}  // namespace sheaf::cluster
