#pragma once

// The default placement of pymemcache's HashClient: each server has a score for each key, and the
// highest score owns it. There are no weights, and the order of the configuration does not matter.
// docs/wire/locators.md, "Placements without a ring".
//
// Thread rule: immutable once built; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <vector>

#include "cluster/placement/key_hashes.h"
#include "cluster/placement/locator.h"

namespace sheaf::cluster {

class PymemcacheLocator final : public ClientNodeLocator {
 public:
  explicit PymemcacheLocator(std::span<const NodeConfig> nodes);

  // There is no point: it is 0.
  Location locate(std::string_view key) const noexcept override;
  // The next lower score takes the place of the owner, as in pymemcache.
  std::uint32_t stand_in(std::string_view key, const NodeFilter& filter) const noexcept override;
  // As expected of a good hash.
  double share(std::uint32_t node) const noexcept override;

 private:
  struct Candidate {
    Murmur3 named;  // has hashed the server's name and the dash after it
    std::uint32_t node;
  };
  // The highest score among the candidates that pass; `nobody` if none does.
  template <class Passes>
  std::uint32_t winner(std::string_view key, const Passes& passes) const noexcept;

  // The greater name first, because it wins if two scores are equal.
  std::vector<Candidate> candidates_;
};

}  // namespace sheaf::cluster
