#pragma once

// A batch of gets. If the protocol can, many keys of a node share one request. These keys are
// requested alone:
//
// - a key that the protocol does not list (SessionFactory::takes_batches),
// - a key whose state only its own get can show (protocol::Reply::unsure),
// - keys of a node that is down while other nodes replace it, each for its own keys,
// - keys that are on another node by now, because the topology has changed since the plan was made,
// - keys that no node owns.
//
// If replicas may answer, the keys that a replica did not have are requested again from their
// owner. Keys that a server may not have (protocol::Reply::unsure) are requested again, too, with
// Operation::may_be_unsure off.
//
// If a request of many keys fails, the keys without an answer fail; the others keep their values.
//
// Thread rule: as for Work.

#include "client/calls/get_answers.h"
#include "client/calls/list_feed.h"

namespace sheaf::client::calls {

class GetBatch final : private ListFeed, private socket::Deferred {
 public:
  using Entry = KeyResult<GetResult>;
  using Out = std::vector<Entry>;

  // `used`: see GetAnswers.
  GetBatch(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan, const BatchTerms& terms,
           std::vector<Entry> used = {});

  void prepare() { answers_.make_entries(); }
  void start(Now now);
  using ListFeed::cancel;
  Out take() { return answers_.take(); }
  // Call after the end: true if a request ended without an answer.
  bool unanswered() const noexcept { return unanswered_; }
  std::span<const std::uint32_t> nodes() const noexcept { return plan().nodes(); }

 private:
  void start_run(std::uint32_t node, cluster::BatchPlan::Run run) override;
  void start_alone(std::uint32_t node, const Alone& alone) override;
  void ask_again() override;
  void start_keys(std::uint32_t node, std::uint32_t first, std::uint32_t count, bool again = false,
                  std::uint64_t continues = 0);
  bool asks_owner(const Part& part, const socket::Completion& completion) const noexcept;
  void end_alone(std::uint32_t place, const socket::Completion& completion);
  void end_part(const Part& part, const socket::Completion& completion) override;
  void run_deferred(Now now) override;
  void on_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
               Now now) override;

  GetAnswers answers_;
  bool unanswered_ = false;
  std::pmr::vector<std::uint32_t> again_;  // places of keys to request again
};

}  // namespace sheaf::client::calls
