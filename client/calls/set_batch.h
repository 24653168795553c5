#pragma once

// A batch of sets for a caller that waits, in which many keys of a node share one request; the
// session may send that as one command. These keys are set alone:
//
// - a key or value that the protocol does not list (SessionFactory::sets_batches),
// - a key that the server has certainly not set (protocol::Reply::unsure): it may refuse the common
//   command, or have refused it for another key,
// - keys of a node that is down while other nodes replace it, and keys that may be on another node
//   by now: as in a batch of gets (get_batch.h).
//
// If a request of many keys ends without an answer, each of its keys does.
//
// Thread rule: as for Work.

#include <vector>

#include "client/calls/list_feed.h"

namespace sheaf::client::calls {

class SetBatch final : private ListFeed {
 public:
  using Entry = KeyResult<SetResult>;
  using Out = std::vector<Entry>;

  // True if keys may share a request: the sets have no time to live, and a key has one connection
  // whatever it shares a request with, so that its operations keep their order.
  static bool suits(runtime::Context& context, const protocol::Operation& operation);

  SetBatch(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan, const BatchTerms& terms);

  void start(Now now) { begin(now); }
  using ListFeed::cancel;
  Out take() noexcept { return std::move(results_); }

 private:
  enum class Known : std::uint8_t { nothing, not_set, result };

  void start_run(std::uint32_t node, cluster::BatchPlan::Run run) override;
  void start_alone(std::uint32_t node, const Alone& alone) override;
  void start_keys(std::uint32_t node, std::uint32_t first, std::uint32_t count,
                  std::uint64_t continues = 0);
  bool may_be_listed(std::uint32_t place);
  std::optional<Error> obstacle(std::uint32_t place);
  // Ends a key that is not set at all; returns false if nothing is wrong with it.
  bool refuse(std::uint32_t place);
  void end(std::uint32_t place, const socket::Completion& completion);
  void on_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
               Now now) override;
  void end_part(const Part& part, const socket::Completion& completion) override;

  Out results_;  // by index
  // By place.
  std::vector<std::string_view> values_;
  std::vector<Known> known_;
};

}  // namespace sheaf::client::calls
