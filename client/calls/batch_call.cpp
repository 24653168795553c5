#include "client/calls/batch_call.h"

namespace sheaf::client::calls {
namespace {

using runtime::BulkConnections;

// A path for many keys of one node, while that node is up and others are at work.
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

// Beside callers of bulk connections none spins: no processor is idle.
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
  // The connection is this caller's alone. In its read a request to stop would be noticed late.
  if (lease && stop == nullptr) how.wait = socket::Wait::read;
  Blocking<GetBatch> batch(path.lane(), how, BatchGround{context, path}, std::move(plan), terms,
                           std::move(used));
  auto entries = batch.wait(stop);
  if (lease && batch.work().unanswered()) lease.distrust(node);
  return entries;
}

}  // namespace sheaf::client::calls
