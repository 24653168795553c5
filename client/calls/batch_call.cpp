#include "client/calls/batch_call.h"

namespace sheaf::client::calls {
namespace {

using runtime::BulkConnections;

// Borrows a bulk connection for many keys of one node, if that node is up and the client has other
// blocking callers but no asynchronous calls. Empty if not.
BulkConnections::Lease bulk_connection(runtime::Context& context, const cluster::BatchPlan& plan,
                                       Deadline now) {
  BulkConnections* const bulk = context.bulk();
  if (bulk == nullptr || plan.size() < BulkConnections::fewest_keys || plan.nodes().size() != 1)
    return {};
  if (context.lane().has_async() || !(context.lane().has_callers() || bulk->in_use())) return {};
  const std::uint32_t node = plan.nodes().front();
  const auto signs = context.cluster().nodes().last_signs(node);
  if (signs.health != NodeHealth::up) return {};
  return bulk->borrow({node, signs.outages, plan.epoch()}, now);
}

}  // namespace

// No caller spins while bulk connections are in use, because no processor is idle.
HowToWait on_own_path(runtime::Context& context, const cluster::BatchPlan& plan) noexcept {
  HowToWait how = HowToWait::for_keys(plan.size(), plan.nodes().size());
  if (context.bulk() != nullptr && context.bulk()->in_use()) how.wait = socket::Wait::sleep;
  return how;
}

GetBatch::Out wait_for_gets(runtime::Context& context, cluster::BatchPlan plan,
                            const BatchTerms& terms, Stop stop, GetBatch::Out&& used) {
  const BulkConnections::Lease lease = bulk_connection(context, plan, terms.started);
  const std::uint32_t node = plan.nodes().front();
  runtime::Path& path = lease ? *lease : context.path();
  HowToWait how = on_own_path(context, plan);
  // Only this caller uses the connection, so it can wait in read. With a stop token it must not,
  // because read would notice a stop too late.
  if (lease && stop == nullptr) how.wait = socket::Wait::read;
  Blocking<GetBatch> batch(path.lane(), how, BatchGround{context, path}, std::move(plan), terms,
                           std::move(used));
  auto entries = batch.wait(stop);
  if (lease && batch.work().unanswered()) lease.distrust(node);
  return entries;
}

}  // namespace sheaf::client::calls
