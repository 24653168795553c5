#pragma once

// Whether a node carries out a command for certain keys or sends the client elsewhere: the rules of
// a cluster of the Redis protocol, in their order.
//
// | the slot, in the node's view     | the command               | then                    |
// |----------------------------------|---------------------------|-------------------------|
// | belongs to nobody                | any                       | CLUSTERDOWN, not served |
// | keys of several slots            | any                       | CROSSSLOT               |
// | any, but the cluster is down     | any                       | CLUSTERDOWN             |
// | its own, migrating               | all keys are there        | served                  |
// |                                  | some keys are there       | TRYAGAIN                |
// |                                  | none is there             | ASK                     |
// | another's, importing             | after ASKING              | served; TRYAGAIN if it  |
// |                                  |                           | has several keys and    |
// |                                  |                           | one is not there        |
// |                                  | without                   | MOVED                   |
// | its primary's                    | a read, after READONLY    | served                  |
// | its own                          | any                       | served                  |
// | another's                        | any                       | MOVED                   |
//
// Thread rule: pure functions; any thread.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <vector>

#include "tests/support/resp_model/cluster_view.h"
#include "tests/support/resp_model/dialect.h"

namespace sheaf::test::resp_model {

enum class Verdict : std::uint8_t {
  served,
  not_served,  // the slot belongs to nobody
  cross_slot,
  down,
  try_again,
  ask,
  moved,
  moved_nowhere,  // Garnet's replica, of a slot that belongs to nobody: MOVED to port 0
  migrating       // the bare error of Garnet before June 2024
};

struct Ruling {
  Verdict verdict = Verdict::served;
  Slot slot = 0;
  NodeNumber target = nobody;  // of ask and moved
};

struct Asked {
  std::vector<std::string> keys;  // none: always served
  bool write = false;
  bool asking = false;    // ASKING was sent right before
  bool readonly = false;  // READONLY was sent
};

Ruling rule_on(const Asked& asked, const ClusterView& view, const Keyspace& keys,
               const Dialect& dialect, bool cluster_down, Deadline now);
// The error reply of a ruling that is not `served`, without "-".
std::string error_of(const Ruling& ruling, const ClusterView& view, const Dialect& dialect);

}  // namespace sheaf::test::resp_model
