#include "client/calls/connection_for_batch.h"

#include <algorithm>

#include "protocol/endpoint_kinds.h"

namespace sheaf::client::calls {
namespace {

using runtime::ExtraConnections;

constexpr MostCallers with_several_nodes{2, 4};
constexpr MostCallers with_small_batches{4, 6};

bool has_for_each_node(const cluster::BatchPlan& plan, std::size_t keys) noexcept {
  return plan.size() >= keys * plan.nodes().size();
}

// True if a batch is faster on an extra connection:
// - A large batch of one node is. So is a small one, unless the node answers small ones of many
//   callers for less when they arrive together.
// - A batch of several nodes is among few callers.
// - Both are where other processes compute: the system shares out processors by threads that can
//   run, and callers that share a connection mostly wait.
bool wants_extra_connection(runtime::Context& context, const cluster::BatchPlan& plan,
                            Deadline now) {
  const unsigned others = other_callers(context, now);
  if (others == 0) return false;
  const bool many = has_for_each_node(plan, ExtraConnections::fewest_keys);
  const bool one_node = plan.nodes().size() == 1;
  if (one_node) {
    if (!many) return false;
    if (plan.size() > protocol::traits_of(context.config().kind).largest_merged_batch) return true;
  }
  if (many && context.path().loop().yielding().others_compete(now)) return true;
  return are_few(context, others, one_node ? with_small_batches : with_several_nodes, now) &&
         enough_for(context, others);
}

// How long a batch waits for an extra connection. A stop token must end it at any time, and it may
// have to be read over the client's own connections after all.
std::chrono::nanoseconds patience_of(const cluster::BatchPlan& plan, const BatchTerms& terms,
                                     Stop stop) noexcept {
  if (stop != nullptr || !has_for_each_node(plan, ExtraConnections::many_keys)) return {};
  return std::min<std::chrono::nanoseconds>(ExtraConnections::longest_wait,
                                            (terms.operation.deadline - terms.started) / 2);
}

}  // namespace

ConnectionForBatch::ConnectionForBatch(runtime::Context& context, const cluster::BatchPlan& plan,
                                       const BatchTerms& terms, Stop stop)
    : context_(context) {
  if (wants_extra_connection(context, plan, terms.started)) {
    lease_ = extra_connection(context, plan.nodes(), plan.epoch(), terms.started,
                              patience_of(plan, terms, stop));
  }
  how_ = on_own_path(context, plan);
  if (lease_) how_.wait = wait_on_extra_connection(stop);
}

// No caller spins while extra connections are in use, because no processor is idle.
HowToWait on_own_path(runtime::Context& context, const cluster::BatchPlan& plan) noexcept {
  HowToWait how = HowToWait::for_keys(plan.size(), plan.nodes().size());
  if (context.extra_connections() != nullptr && context.extra_connections()->lent() > 0)
    how.wait = socket::Wait::sleep;
  return how;
}

}  // namespace sheaf::client::calls
