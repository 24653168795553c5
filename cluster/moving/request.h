#pragma once

// Request: a request as a cluster sees it. It adds to the node's part which node shall have it and
// when it ends at the latest. Whoever submits to a cluster makes one of these.
//
// Thread rule: touched only under the lane's baton, from start to on_done.

#include <memory>
#include <string_view>

#include "base/deadline_heap.h"
#include "cluster/moving/redirected.h"
#include "node/request.h"

namespace sheaf::cluster {

class Request : public node::Request, public DeadlineHook<Request> {
 public:
  std::string_view route;  // the text that decides its node; empty: the key
  bool at_owner = false;   // for the owner of its key only, whatever the failover mode

  bool may_lag = false;  // a replica may answer it, where the configuration says so

  // The node that has it: its index.
  unsigned node() const noexcept { return node_; }
  // Whether that node is asked as a replica of the owner. What it says for certain is a value.
  bool from_replica() const noexcept { return provisional; }
  // The text that decides its node.
  std::string_view route_or_key() const noexcept { return route.empty() ? operation.key : route; }

 private:
  friend class ClientCluster;
  friend class Redirects;
  unsigned node_ = 0;
  bool on_node_ = false;                    // for this node, not for the owner of a key
  std::unique_ptr<Redirected> redirected_;  // null: no server has sent it elsewhere
};

}  // namespace sheaf::cluster
