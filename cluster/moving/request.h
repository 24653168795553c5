#pragma once

// Request: a request as a cluster sees it. It extends the node's part with the node that should get
// it and with its deadline. Code that submits to a cluster makes one of these.
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
  bool at_owner = false;   // only for the owner of its key, whatever the failover mode

  bool may_lag = false;  // a replica may answer it if the configuration allows that

  // The index of the node that has it.
  unsigned node() const noexcept { return node_; }
  // True if that node is asked as a replica of the owner. Its only certain answer is a value.
  bool from_replica() const noexcept { return provisional; }
  // The text that decides its node.
  std::string_view route_or_key() const noexcept { return route.empty() ? operation.key : route; }

 private:
  friend class ClientCluster;
  friend class Redirects;
  unsigned node_ = 0;
  bool on_node_ = false;                    // for this node, not for the owner of a key
  std::unique_ptr<Redirected> redirected_;  // null: no server has redirected it
};

}  // namespace sheaf::cluster
