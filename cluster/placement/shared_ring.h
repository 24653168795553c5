#pragma once

// The rings of other memcached clients, so that those clients and sheaf find each other's keys. A
// profile is a row of a table and the two functions it names; docs/wire/locators.md has the rules
// and their sources. `{tag}` has no meaning for the others, so it is not read here either.
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <span>

#include "cluster/placement/locator.h"
#include "cluster/placement/ring_points.h"

namespace sheaf::cluster {

class SharedRing final : public ClientNodeLocator {
 public:
  // The profile is one of a ring: not none, modula or pymemcache.
  SharedRing(RingProfile profile, std::span<const NodeConfig> nodes);

  Location locate(std::string_view key) const noexcept override;
  void owners(std::span<const std::string_view> keys,
              std::span<std::uint32_t> nodes) const noexcept override;
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept override;
  double share(std::uint32_t node) const noexcept override;

  // Sorted by position; of equal positions the first counts. A key belongs to the first position
  // that is not less than its own. Where another client looks for the point before a key instead,
  // positions are complements.
  std::span<const RingPoint> points() const noexcept { return ring_.points(); }

 private:
  using KeyHash = std::uint32_t (*)(std::string_view) noexcept;

  std::size_t point_of(std::string_view key) const noexcept {
    return ring_.first_from(key_hash_(key) ^ flip_);
  }

  KeyHash key_hash_;
  std::uint32_t flip_;  // all ones: positions are complements
  bool hashes_again_;
  PointRing ring_;
};

}  // namespace sheaf::cluster
