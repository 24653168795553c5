#pragma once

// Hedges: the hedged reads of a cluster (docs/design/0063-hedged-reads.md). A read that has no
// answer after a while is also sent to a second holder of its key, if the plan (hedge_plan.h) says
// so. The first answer that the call may have ends it. The other attempt stays in flight, because
// a connection is paired by order, and its answer is dropped.
//
// | stage    | input                                    | then                      | next        |
// |----------|------------------------------------------|---------------------------|-------------|
// | one      | its time has come, and the plan agrees   | the second attempt starts | both        |
// | one      | the same, and the plan does not agree    | is asked about again      | one         |
// |          |                                          | after as long a time      |             |
// | one      | it is sent elsewhere, or ends            |                           | gone        |
// | both     | the first attempt ends the call, or the  |                           | late second |
// |          | owner sends it elsewhere                 |                           |             |
// | both     | the second attempt is answered           | the call ends             | late first  |
// | both     | the first attempt fails                  |                           | second      |
// | both     | the second attempt fails                 | is not hedged again       | one         |
// | second   | the second attempt is answered, or its   | the call ends             | gone        |
// |          | deadline has come, or it is cancelled    |                           |             |
// | second   | the second attempt fails                 | the owner is asked        | gone        |
// | late ... | the attempt ends                         |                           | gone        |
//
// An attempt fails if it was not sent, if its connection was lost, or if its answer is of no use: a
// refusal, or the miss of a replica that must be confirmed.
//
// Thread rule: belongs to one lane.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline_heap.h"
#include "cluster/hedging/hedge_plan.h"
#include "cluster/moving/request.h"
#include "cluster/moving/sender.h"
#include "cluster/nodes/cluster_nodes.h"

namespace sheaf::cluster {

// What a cluster keeps about a read that may be hedged.
struct Hedged : DeadlineHook<Hedged> {
  enum class Stage : std::uint8_t { one, both, second, late_first, late_second };

  Request* call = nullptr;         // the submitter's, the first attempt; null once it has ended
  std::unique_ptr<Request> other;  // ours: the second attempt, or a late one
  std::string key;                 // of ours
  Deadline began{0};
  Stage stage = Stage::one;
};

// The cluster.
class HedgeOwner : public node::NodeOwner {
 public:
  // No holder has answered the request: sends it to the owner of its key. False: it cannot.
  virtual bool ask_owner(Request& request, Now now) = 0;

 protected:
  ~HedgeOwner() = default;
};

class Hedges final : private socket::RequestSink {
 public:
  // They must outlive it.
  struct Parts {
    ClusterNodes& nodes;
    HedgeOwner& owner;
    Sender& sender;
    node::EarliestTimer& timer;
    socket::Loop& loop;
    DeadlineHeap<Request>& deadlines;
  };
  explicit Hedges(const Parts& parts) : parts_(parts) {}
  Hedges(const Hedges&) = delete;
  Hedges& operator=(const Hedges&) = delete;

  // A request that may lag begins, at a holder of its key.
  void begin(Request& request, unsigned owner, Now now);
  // The attempt that stands for a request on a node.
  static Request& attempt_of(Request& request) noexcept {
    const Hedged* const hedged = request.hedged_;
    return hedged != nullptr && hedged->stage == Hedged::Stage::second ? *hedged->other : request;
  }

  // For attempts that have a record (Request::hedged_):
  // The answer is of no use to the call. True: nothing more is to be done. False: the request is
  // sent elsewhere, or ends with this answer.
  bool on_useless(Request& attempt, const protocol::Reply& reply, Now now);
  // It was not sent, or its connection was lost. The result means the same.
  bool on_lost(Request& attempt, Now now);
  // It has ended.
  void on_end(Request& attempt, const socket::Completion& completion);

  // Does what is due. Must not be called within a call of a node.
  void advance(Now now);

 private:
  void on_done(socket::Request& other, const socket::Completion& completion) override;
  void wait(Hedged& hedged, Deadline until);
  void consider(Hedged& hedged, Now now);
  void send(Hedged& hedged, unsigned node, Now now);
  void watch(Request& other);
  bool leave_to_second(Hedged& hedged);
  void other_failed(Hedged& hedged, Now now);
  void end_call(Hedged& hedged, const socket::Completion& completion);
  void let_second_go_on(Hedged& hedged, Now now);
  void end_unanswered(Request& request, Now now);
  void learn(const Hedged& hedged, const socket::Completion& completion) noexcept;
  void forget(Hedged& hedged);

  const Parts parts_;
  HedgePlan plan_;
  std::deque<Hedged> records_;
  std::vector<Hedged*> idle_;  // records of no request
  DeadlineHeap<Hedged> waiting_;
};

}  // namespace sheaf::cluster
