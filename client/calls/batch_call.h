#pragma once

// Batches as calls, blocking and asynchronous.

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "client/calls/admit.h"
#include "client/calls/batch.h"
#include "client/calls/batch_memory.h"
#include "client/calls/connection_for_batch.h"
#include "client/calls/detached.h"
#include "client/calls/get_batch.h"
#include "client/calls/owned_texts.h"
#include "client/calls/requests.h"
#include "client/calls/set_batch.h"

namespace sheaf::client::calls {

// The Work that runs a batch of Op.
template <class Op>
struct BatchOf {
  using type = KeyBatch<Op>;
};
template <>
struct BatchOf<runtime::GetOp> {
  using type = GetBatch;
};
template <class Op>
using Batch = typename BatchOf<Op>::type;

inline std::string_view key_of(std::string_view key) noexcept { return key; }
inline std::string_view key_of(const SetItem& item) noexcept { return item.key; }

template <class Entry>
cluster::BatchPlan make_plan(const runtime::Context& context, std::span<const Entry> entries,
                             std::pmr::memory_resource& memory = *std::pmr::new_delete_resource()) {
  const ClusterConfig& config = context.config();
  return {*context.topology(),
          entries,
          {config.max_in_flight, config.max_bytes_in_flight, context.hash_seed()},
          memory};
}

// Ends every key with the same error. It does not ask where the keys belong: a forked child must
// not ask.
template <class Op, class Entry>
typename Batch<Op>::Out refuse_all(std::span<const Entry> entries, const Error& error) {
  typename Batch<Op>::Out refused;
  std::set<std::string_view> seen;
  for (const Entry& entry : entries) {
    const std::string_view key = key_of(entry);
    if (seen.insert(key).second) refused.push_back({std::string(key), Failure(error)});
  }
  return refused;
}

// Runs an admitted batch of gets for a caller that waits, perhaps on an extra connection. `used`:
// see GetAnswers.
GetBatch::Out wait_for_gets(runtime::Context& context, cluster::BatchPlan plan,
                            const BatchTerms& terms, Stop stop, GetBatch::Out&& used);

// `used`: for gets only; see GetAnswers.
template <class Op, class Entry>
typename Batch<Op>::Out call_batch(runtime::Context& context, BatchRequest<Entry> request,
                                   typename Batch<Op>::Out&& used = {}) {
  const auto admitted =
      admit(context, Form::blocking, request.timeout, request.stop, std::move(request.wrong));
  if (!admitted) return refuse_all<Op>(request.entries, admitted.error());
  if (request.entries.empty()) return {};
  request.operation.deadline = admitted->deadline;
  BatchMemory memory(request.entries.size());
  // A key that a replica does not have is requested again by a rule of its own.
  request.operation.may_be_unsure =
      std::is_same_v<Op, runtime::GetOp> && context.config().reads == ReadTarget::primary;
  const BatchTerms terms{request.operation, admitted->started, admitted->parent};
  auto plan = make_plan(context, request.entries, *memory);
  if constexpr (std::is_same_v<Op, runtime::GetOp>) {
    return wait_for_gets(context, std::move(plan), terms, request.stop, std::move(used));
  } else {
    const HowToWait how = on_own_path(context, plan);
    const BatchGround ground{context, context.path()};
    if constexpr (std::is_same_v<Op, runtime::SetOp>) {
      if (SetBatch::suits(context, request.operation)) {
        return Blocking<SetBatch>(context.lane(), how, ground, std::move(plan), terms)
            .wait(request.stop);
      }
    }
    return Blocking<Batch<Op>>(context.lane(), how, ground, std::move(plan), terms)
        .wait(request.stop);
  }
}

template <class Op, class Entry>
Call<typename Batch<Op>::Out> batch_later(Origin origin, BatchRequest<Entry> request) {
  using Out = typename Batch<Op>::Out;
  return prepare<Out, Batch<Op>>(
      std::move(origin), request.stop,
      [owned = OwnedTexts<Entry>(request.entries), operation = request.operation,
       timeout = request.timeout,
       wrong = std::move(request.wrong)](runtime::Context& context, Stop stop, auto way) mutable {
        const auto entries = owned.views();
        const auto admitted = admit(context, way.form, timeout, stop, std::move(wrong));
        if (!admitted) return way.give(context, refuse_all<Op>(entries, admitted.error()));
        if (entries.empty()) return way.give(context, {});
        operation.deadline = admitted->deadline;
        const BatchTerms terms{operation, admitted->started, admitted->parent};
        way.template run<Batch<Op>>(context, stop, AsItIs(), BatchGround{context, context.path()},
                                    make_plan(context, entries), terms);
      });
}

}  // namespace sheaf::client::calls
