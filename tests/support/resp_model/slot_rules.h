#pragma once

// Decides if a node carries out a command on certain keys or sends the client elsewhere: the rules
// of a cluster of the Redis protocol, in their order.
//
// | the slot, in the node's view     | the command               | then                    |
// |----------------------------------|---------------------------|-------------------------|
// | has no owner                     | any                       | CLUSTERDOWN, not served |
// | keys of several slots            | any                       | CROSSSLOT               |
// | any, but the cluster is down     | any                       | CLUSTERDOWN             |
// | its own, migrating               | all keys are present      | served                  |
// |                                  | some keys are present     | TRYAGAIN                |
// |                                  | no key is present         | ASK                     |
// | another's, importing             | after ASKING              | served; TRYAGAIN if it  |
// |                                  |                           | has several keys and    |
// |                                  |                           | one is absent           |
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
  not_served,  // the slot has no owner
  cross_slot,
  down,
  try_again,
  ask,
  moved,
  moved_nowhere,  // Garnet's replica, for a slot without an owner: MOVED to port 0
  migrating       // the bare error of Garnet before June 2024
};

struct Ruling {
  Verdict verdict = Verdict::served;
  Slot slot = 0;
  NodeNumber target = nobody;  // for ask and moved
};

struct Asked {
  std::vector<std::string> keys;  // none: always served
  bool write = false;
  bool asking = false;    // ASKING came directly before
  bool readonly = false;  // READONLY was sent
};

Ruling rule_on(const Asked& asked, const ClusterView& view, const Keyspace& keys,
               const Dialect& dialect, bool cluster_down, Deadline now);
// The error reply for a ruling other than `served`, without "-".
std::string error_of(const Ruling& ruling, const ClusterView& view, const Dialect& dialect);

}  // namespace sheaf::test::resp_model
