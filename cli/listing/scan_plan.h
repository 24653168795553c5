#pragma once

// ScanPlan: which servers of a Redis cluster to scan, and for which slots, so that every key that
// exists throughout is listed although slots move meanwhile.
//
// A server that has been scanned has listed all keys that it had throughout its scan. Others have
// left it, in a slot that has another owner by now, or one that another server is importing. That
// server is scanned again for this slot, until no slot has moved during a scan. Only a slot that
// moves away and back during a scan is not noticed.
//
// Thread rule: one thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <bitset>
#include <string>
#include <vector>

#include "protocol/resp/cluster/topology_view.h"
#include "protocol/resp/wire/hash_slot.h"

namespace sheaf::cli {

using Slots = std::bitset<protocol::resp::slot_count>;

// What a server says of itself.
struct SlotHolder {
  std::string node;  // identity
  std::string id;
  Slots owned;
  Slots importing;  // being moved to it
};
// From what CLUSTER NODES says at the server `node`; false: the view does not say which server it
// is from.
bool read_holder(const protocol::resp::TopologyView& view, SlotHolder& holder);

class ScanPlan {
 public:
  struct Scan {
    std::string node;
    Slots slots;  // keys of other slots are not wanted
  };

  // What to scan now that the servers say this; afterwards they are asked again. Nothing: all is
  // listed. The first scans are of all slots.
  std::vector<Scan> next(const std::vector<SlotHolder>& holders);
  // A slot that was listed, and that none of the servers owns any more; -1: there is none.
  int orphan(const std::vector<SlotHolder>& holders) const;

 private:
  std::vector<std::string> owners_;     // by slot: the id of the owner that was scanned last
  std::vector<std::string> importers_;  // likewise of the server that was importing it
};

}  // namespace sheaf::cli
