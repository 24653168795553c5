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

struct Hedged;

class Request : public node::Request, public DeadlineHook<Request> {
 public:
  std::string_view route;  // the text that decides its node; empty: the key
  bool at_owner = false;   // only for the owner of its key, whatever the failover mode

  bool may_lag = false;  // a replica may answer it if the configuration allows that
  // The number() of an ended request of which this one is the rest: it then has the place of that
  // one among the operations on its key. 0: it is a new one. Used up by each start.
  std::uint64_t continues = 0;

  // Where it is, for the order of operations on one key (key_order.h).
  enum class Stage : std::uint8_t {
    none,   // it is not ordered: it has no key, is for a certain node, or began at a replica
    sent,   // on a node: in its queue, or in flight
    held,   // waits until it is sent once more
    parked  // waits for others on its key
  };

  // How long a parked request waits for requests on other nodes.
  struct Patience : DeadlineHook<Patience> {
    explicit Patience(Request& its_request) noexcept : request(its_request) {}
    Request& request;
    bool over = false;
  };

  // Grows with each start of the cluster.
  std::uint64_t number() const noexcept { return order_; }
  // The index of the node that has it.
  unsigned node() const noexcept { return node_; }
  // True if that node is asked as a replica of the owner. Its only certain answer is a value.
  bool from_replica() const noexcept { return replica_; }
  // The text that decides its node.
  std::string_view route_or_key() const noexcept { return route.empty() ? operation.key : route; }

 private:
  friend class ClientCluster;
  friend class Hedges;
  friend class KeyOrder;
  friend class Redirects;
  friend class Sender;
  // It goes to this node. What a replica answers is provisional.
  void go_to(unsigned node, bool replica) noexcept {
    node_ = node;
    replica_ = replica;
    provisional = replica;
  }

  unsigned node_ = 0;
  bool replica_ = false;
  bool on_node_ = false;  // for this node, not for the owner of a key
  Stage stage_ = Stage::none;
  Patience patience_{*this};
  bool overtaken_ = false;                  // a later one on its key may have been carried out
  std::uint64_t order_ = 0;                 // the place among all requests
  std::unique_ptr<Redirected> redirected_;  // null: no server has redirected it
  Hedged* hedged_ = nullptr;                // null: it is not hedged (hedges.h)
};

}  // namespace sheaf::cluster
