#include "client/calls/batch_call.h"

#include <algorithm>

#include "client/calls/extra_connection.h"

namespace sheaf::client::calls {
namespace {

using runtime::ExtraConnections;

// Up to so many callers read from several nodes over connections of their own; more share the
// client's own (docs/design/0011-extra-connections.md).
constexpr unsigned most_sleeping_in_batches = 4;
constexpr unsigned most_yielding_in_batches = 2;

bool has_for_each_node(const cluster::BatchPlan& plan, std::size_t keys) noexcept {
  return plan.size() >= keys * plan.nodes().size();
}

// True if a batch is faster on an extra connection. A batch of one node is, with enough keys. A
// batch of several nodes is among few callers, and with many keys also where other processes
// compute: the system shares out processors by threads that can run, and callers that share a
// connection mostly wait.
bool wants_extra_connection(runtime::Context& context, const cluster::BatchPlan& plan,
                            Deadline now) {
  const unsigned others = other_callers(context, now);
  if (others == 0) return false;
  const bool many = has_for_each_node(plan, ExtraConnections::fewest_keys);
  if (plan.nodes().size() == 1) return many;
  Yielding& yielding = context.path().loop().yielding();
  if (many && yielding.others_compete(now)) return true;
  return others < (yielding.pays(now) ? most_yielding_in_batches : most_sleeping_in_batches) &&
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

// Reads the keys whose extra connection ended again, over the client's own connections.
void repeat_lost(runtime::Context& context, GetBatch::Out& entries, const BatchTerms& terms,
                 Stop stop) {
  const auto is_lost = [](const auto& entry) {
    return !entry.result && lost(entry.result.error());
  };
  std::vector<std::string_view> keys;
  for (const auto& entry : entries) {
    if (is_lost(entry)) keys.push_back(entry.key);
  }
  if (keys.empty()) return;
  auto plan = make_plan(context, std::span<const std::string_view>(keys));
  const HowToWait how = on_own_path(context, plan);
  auto again = Blocking<GetBatch>(context.lane(), how, BatchGround{context, context.path()},
                                  std::move(plan), terms)
                   .wait(stop);
  auto next = again.begin();
  for (auto& entry : entries) {
    if (is_lost(entry)) entry.result = std::move(next++->result);
  }
}

}  // namespace

// No caller spins while extra connections are in use, because no processor is idle.
HowToWait on_own_path(runtime::Context& context, const cluster::BatchPlan& plan) noexcept {
  HowToWait how = HowToWait::for_keys(plan.size(), plan.nodes().size());
  if (context.extra_connections() != nullptr && context.extra_connections()->lent() > 0)
    how.wait = socket::Wait::sleep;
  return how;
}

GetBatch::Out wait_for_gets(runtime::Context& context, cluster::BatchPlan plan,
                            const BatchTerms& terms, Stop stop, GetBatch::Out&& used) {
  const ExtraConnections::Lease lease =
      wants_extra_connection(context, plan, terms.started)
          ? extra_connection(context, plan.nodes(), plan.epoch(), terms.started,
                             patience_of(plan, terms, stop))
          : ExtraConnections::Lease();
  runtime::Path& path = lease ? *lease : context.path();
  HowToWait how = on_own_path(context, plan);
  if (lease) how.wait = wait_on_extra_connection(stop);
  Blocking<GetBatch> batch(path.lane(), how, BatchGround{context, path}, std::move(plan), terms,
                           std::move(used));
  auto entries = batch.wait(stop);
  if (lease && batch.work().unanswered()) {
    lease.distrust(batch.work().nodes());
    repeat_lost(context, entries, terms, stop);
  }
  return entries;
}

}  // namespace sheaf::client::calls
