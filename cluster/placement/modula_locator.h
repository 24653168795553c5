#pragma once

// libmemcached's default placement, which it calls modula: the hash of the key modulo the number of
// servers is the position of the server. So the order of the configuration places keys, and one
// server more or less moves nearly all of them. There are no weights. docs/wire/locators.md,
// "Placements without a ring".
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/locator.h"

namespace sheaf::cluster {

class ModulaLocator final : public ClientNodeLocator {
 public:
  explicit ModulaLocator(std::span<const NodeConfig> nodes);

  // There is no point: it is 0.
  Location locate(std::string_view key) const noexcept override;
  // The servers after the owner take its place, in the order of the configuration.
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept override;
  double share(std::uint32_t node) const noexcept override;

 private:
  std::uint32_t count_;
};

}  // namespace sheaf::cluster
