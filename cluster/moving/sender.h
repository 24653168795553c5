#pragma once

// Sender: puts requests on nodes, each when the order of its key allows it (key_order.h), and ends
// requests that no node has.
//
// Thread rule: belongs to one lane.

#include "cluster/moving/key_order.h"
#include "cluster/nodes/cluster_nodes.h"

namespace sheaf::cluster {

// The cluster, which knows where a request should go.
class SenderOwner {
 public:
  // A parked request may have become free: sends it, parks it again or ends it.
  virtual void try_again(Request& parked, Now now) = 0;

 protected:
  ~SenderOwner() = default;
};

class Sender final : private socket::Deferred {
 public:
  // They must outlive it.
  struct Parts {
    ClusterNodes& nodes;
    node::NodeOwner& requests;
    SenderOwner& owner;
    node::EarliestTimer& timer;
    socket::Loop& loop;
    node::EventLog& events;
    const DeadlineHeap<Request>& in_progress;
  };
  // `keeps_order`: see ClusterControls.
  Sender(const Parts& parts, bool keeps_order) : parts_(parts), keeps_order_(keeps_order) {}
  ~Sender() { parts_.loop.forget(*this); }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  KeyOrder& order() noexcept { return order_; }
  // Operations on each key keep their order from now on.
  void keep_order();
  // Operations on the request's key that start from now on wait until release_key(), because one
  // comes before them that another cluster may still carry out. The request is not sent.
  void hold_key(Request& request);
  void release_key(Request& request);
  // True if the request may go to this node now; otherwise it is parked. The caller then starts it
  // there.
  bool admits(Request& request, std::uint32_t node, Now now);
  // The request goes to the node, now or when it may.
  void send(Request& request, std::uint32_t node, Now now);
  // The request waits outside a node until it is sent once more.
  void hold(Request& request);
  // The request has ended.
  void forget(Request& request, const socket::Completion& completion);

  // Ends a request that no node has. A cancelled one is not logged.
  void end(Request& request, const socket::Completion& completion);
  // The same without a record.
  void give_back(Request& request, const socket::Completion& completion);
  // Ends a parked request that was never sent.
  void end_parked(Request& parked, Reason reason, Now now);
  // "no server owns slot N"
  std::string unowned(const Request& request) const;
  // Ends a request whose slot has no owner.
  void end_unowned(Request& request, Now now);

  // Does what is due.
  void advance(Now now);
  Deadline poll_deadline() const noexcept { return order_.poll_deadline(); }
  // Ends all parked requests that were never sent, and tries no more.
  void shut_down(Now now);

 private:
  void run_deferred(Now now) override;
  void try_parked();

  const Parts parts_;
  const bool keeps_order_;
  KeyOrder order_;
  bool shut_down_ = false;
};

}  // namespace sheaf::cluster
