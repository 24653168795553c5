#pragma once

// ClusterChanges: migrations and failovers of a model cluster that proceed step by step as time
// passes.
//
// | state     | does                                                     | next                 |
// |-----------|----------------------------------------------------------|----------------------|
// | importing | the target imports the slot                              | migrating            |
// | migrating | the source's slot migrates                               | keys                 |
// | keys      | one key moves; no key is left:                           | keys; target         |
// | target    | the target owns the slot, with a new epoch               | source               |
// | source    | the source has given it up; of the last slot: over       | importing; over      |
// | giving    | the source attributes all slots to the target            | taking               |
// | taking    | the keys move, the target owns all slots                 | over                 |
// | yielding  | the primary attributes its slots to its replica          | promoting            |
// | promoting | the replica is the primary, with a new epoch             | over                 |
//
// Between giving and taking, and between yielding and promoting, two nodes redirect to each other.
// A step waits while a node that it needs is stopped; a failover does not need its primary.
//
// Begin a change only when ModelCluster::settled() holds. An operator would not migrate to a node
// that is about to be replaced, either.
//
// A migration slot by slot is abandoned if one of its nodes loses its slots or its role meanwhile:
// the keys of the current slot that have moved go back. Until then such a key reads as absent, as
// on real servers.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <vector>

#include "tests/support/resp_model/model_cluster.h"

namespace sheaf::test::resp_model {

struct ChangePace {
  std::chrono::nanoseconds step = std::chrono::milliseconds(1);  // between steps
  std::chrono::nanoseconds gap = std::chrono::milliseconds(5);   // between the ends of two nodes
};

class ClusterChanges {
 public:
  // `cluster` outlives it.
  explicit ClusterChanges(ModelCluster& cluster) : cluster_(cluster) {}

  // Migrates slot by slot and key by key, as Redis and Garnet do.
  void migrate(SlotRange slots, NodeNumber source, NodeNumber target, ChangePace pace,
               Deadline now);
  // Migrates all slots at once, as Valkey 9 does.
  void flip(SlotRange slots, NodeNumber source, NodeNumber target, ChangePace pace, Deadline now);
  void fail_over(NodeNumber replica, ChangePace pace, Deadline now);
  // Each primary with slots gives the upper half of its longest range to a new primary. There is
  // one for each in `newcomers`, which have joined and have no slots.
  void share(const std::vector<NodeNumber>& newcomers, bool all_at_once, ChangePace pace,
             Deadline now);

  void tick(Deadline now);
  Deadline next_tick() const;
  bool over() const { return changes_.empty(); }

 private:
  enum class State : std::uint8_t {
    importing,
    migrating,
    keys,
    target,
    source,
    giving,
    taking,
    yielding,
    promoting,
    over
  };
  struct Change {
    State state = State::over;
    SlotRange slots{};  // slots still to be moved
    NodeNumber source = nobody;
    NodeNumber target = nobody;
    ChangePace pace{};
    Deadline next{0};
  };

  void add(State first, SlotRange slots, NodeNumber source, NodeNumber target, ChangePace pace,
           Deadline now);
  bool waits(const Change& change) const;
  bool in_vain(const Change& change) const;
  void give_back(const Change& change, Deadline now);
  void step(Change& change, Deadline now);

  ModelCluster& cluster_;
  std::vector<Change> changes_;
};

}  // namespace sheaf::test::resp_model
