// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/placement/locator.h"

#include "cluster/placement/modula_locator.h"
#include "cluster/placement/pymemcache_locator.h"
#include "cluster/placement/ring_locator.h"
#include "cluster/placement/shared_ring.h"
#include "cluster/placement/slot_locator.h"

namespace sheaf::cluster {

std::unique_ptr<const ClientNodeLocator> make_locator(const ClusterConfig& config,
                                                      const ClientNodeLocator* before) {
  if (before != nullptr) {
    if (auto made = before->for_nodes(config.nodes)) return made;
  }
  if (config.ring == RingProfile::modula) return std::make_unique<ModulaLocator>(config.nodes);
  if (config.ring == RingProfile::pymemcache) {
    return std::make_unique<PymemcacheLocator>(config.nodes);
  }
  if (config.ring != RingProfile::none) {
    return std::make_unique<SharedRing>(config.ring, config.nodes);
  }
  if (config.locator == LocatorKind::ring) return std::make_unique<RingLocator>(config.nodes);
  return std::make_unique<SlotLocator>(config.nodes, config.slots);
}

}  // namespace sheaf::cluster
