#include "client/calls/batch_call.h"

#include "client/calls/connection_for_batch.h"

namespace sheaf::client::calls {
namespace {

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

GetBatch::Out wait_for_gets(runtime::Context& context, cluster::BatchPlan plan,
                            const BatchTerms& terms, Stop stop, GetBatch::Out&& used) {
  const ConnectionForBatch connection(context, plan, terms, stop);
  Blocking<GetBatch> batch(connection.path().lane(), connection.how_to_wait(),
                           BatchGround{context, connection.path()}, std::move(plan), terms,
                           std::move(used));
  auto entries = batch.wait(stop);
  if (connection.is_extra() && batch.work().unanswered()) {
    connection.distrust(batch.work().nodes());
    repeat_lost(context, entries, terms, stop);
  }
  return entries;
}

}  // namespace sheaf::client::calls
