// The batch members of Client.

#include <sheaf/client.h>

#include "base/read_clocks.h"
#include "client/calls/batch_call.h"
#include "client/calls/batch_memory.h"
#include "client/calls/checks.h"

namespace sheaf {
inline namespace v0 {
namespace {

using client::calls::BatchMemory;
using client::calls::BatchTerms;
using client::calls::promised;
using client::calls::Receiver;
using client::runtime::BulkConnections;
using client::runtime::GetOp;
using client::runtime::RemoveOp;
using client::runtime::SetOp;
using cluster::BatchPlan;
using protocol::Verb;

template <class Op>
using Entries = std::vector<KeyResult<typename Op::Out::value_type>>;

using Keys = std::span<const std::string_view>;
using Items = std::span<const SetItem>;

BatchPlan make_plan(const Client::Impl& impl, auto entries,
                    BatchPlan::Memory& memory = *std::pmr::new_delete_resource()) {
  const ClusterConfig& config = impl.config();
  return {impl.topology(),
          entries,
          {config.max_in_flight, config.max_bytes_in_flight, impl.hash_seed()},
          memory};
}

// Ends every key with the same error.
template <class Op>
Entries<Op> refuse_all(const BatchPlan& plan, const Error& error) {
  Entries<Op> entries;
  for (std::uint32_t i = 0; i < plan.size(); ++i) {
    entries.push_back({std::string(plan.item(i).key), Failure(error)});
  }
  return entries;
}

// The reason why a whole batch cannot start; fills in the terms' deadline.
std::optional<Error> prepare(const Client::Impl& impl, BatchTerms& terms, const Timeout& timeout,
                             bool blocking, std::optional<Error> checked) {
  if (auto refused = impl.refusal(blocking)) return refused;
  if (checked) return checked;
  if (auto error = client::calls::check_timeout(timeout)) return error;
  terms.operation.deadline = impl.deadline(terms.started, timeout);
  return std::nullopt;
}

// `used`: of gets, see GetAnswers.
template <class Op>
Entries<Op> run_on_a_path(Client::Impl& impl, BatchPlan plan, const BatchTerms& terms,
                          Entries<Op>&& /*used*/) {
  return client::calls::BlockingBatch<Op>(impl, impl.path(), std::move(plan), terms).wait();
}

// A path for many keys of one node, while that node is up and others are at work.
BulkConnections::Lease side_path(Client::Impl& impl, const BatchPlan& plan,
                                 const BatchTerms& terms) {
  BulkConnections* const sides = impl.bulk();
  if (sides == nullptr || plan.size() < BulkConnections::fewest_keys || plan.nodes().size() != 1)
    return {};
  if (impl.lane().has_async() || !(impl.lane().has_callers() || sides->in_use())) return {};
  const std::uint32_t node = plan.nodes().front();
  if (impl.cluster().node(node).last_health() != NodeHealth::up) return {};
  return sides->borrow(node, terms.started);
}

template <>
Entries<GetOp> run_on_a_path<GetOp>(Client::Impl& impl, BatchPlan plan, const BatchTerms& terms,
                                    Entries<GetOp>&& used) {
  const BulkConnections::Lease side = side_path(impl, plan, terms);
  const std::uint32_t node = plan.nodes().front();
  client::calls::BlockingBatch<GetOp> batch(impl, side ? *side : impl.path(), std::move(plan),
                                            terms, std::move(used));
  auto entries = batch.wait();
  if (side && batch.unanswered()) side.distrust(node);
  return entries;
}

template <class Op, class Entry>
Entries<Op> run_blocking(Client::Impl& impl, std::span<const Entry> entries, BatchTerms terms,
                         const Timeout& timeout, std::optional<Error> checked,
                         Entries<Op> used = {}) {
  terms.started = read_monotonic();
  if (auto error = prepare(impl, terms, timeout, true, std::move(checked))) {
    return refuse_all<Op>(make_plan(impl, entries), *error);
  }
  if (entries.empty()) return {};
  BatchMemory memory(entries.size());
  return run_on_a_path<Op>(impl, make_plan(impl, entries, *memory), terms, std::move(used));
}

// Copies the values, and points the entries at the copies.
std::unique_ptr<std::deque<std::string>> own_values(std::vector<SetItem>& items) {
  auto values = std::make_unique<std::deque<std::string>>();
  for (SetItem& item : items) item.value = values->emplace_back(item.value);
  return values;
}
std::unique_ptr<std::deque<std::string>> own_values(std::vector<std::string_view>&) { return {}; }

template <class Op, class Entry>
void run_async(Client::Impl& impl, std::span<const Entry> entries, BatchTerms terms,
               const Timeout& timeout, std::optional<Error> checked,
               Receiver<Entries<Op>> receiver) {
  terms.started = read_monotonic();
  if (auto error = prepare(impl, terms, timeout, false, std::move(checked))) {
    receiver.deliver(impl.dispatcher(), refuse_all<Op>(make_plan(impl, entries), *error));
    return;
  }
  if (entries.empty()) {
    receiver.deliver(impl.dispatcher(), {});
    return;
  }
  std::vector<Entry> own(entries.begin(), entries.end());
  auto values = own_values(own);
  client::calls::AsyncBatch<Op>::post(std::make_unique<client::calls::AsyncBatch<Op>>(
      impl, std::move(values), make_plan(impl, std::span<const Entry>(own)), terms,
      std::move(receiver)));
}

BatchTerms key_terms(Verb verb) {
  BatchTerms terms;
  terms.operation.verb = verb;
  return terms;
}

BatchTerms set_terms(const BatchSetOptions& options, const ClusterConfig& config) {
  SetOptions single;
  single.ttl = options.ttl;
  BatchTerms terms;
  terms.operation = client::calls::set_operation({}, {}, single, config);
  return terms;
}

}  // namespace

std::vector<KeyResult<GetResult>> Client::get_many(Keys keys, const BatchOptions& options) {
  return run_blocking<GetOp>(*impl_, keys, key_terms(Verb::get), options.timeout, std::nullopt);
}

std::vector<KeyResult<GetResult>> Client::get_many(Keys keys, const BatchOptions& options,
                                                   std::vector<KeyResult<GetResult>>&& used) {
  return run_blocking<GetOp>(*impl_, keys, key_terms(Verb::get), options.timeout, std::nullopt,
                             std::move(used));
}

void Client::get_many_async(Keys keys, const BatchOptions& options, GetManyCallback done) {
  run_async<GetOp>(*impl_, keys, key_terms(Verb::get), options.timeout, std::nullopt,
                   {std::move(done)});
}

std::future<std::vector<KeyResult<GetResult>>> Client::get_many_future(
    Keys keys, const BatchOptions& options) {
  auto [receiver, future] = promised<Entries<GetOp>>();
  run_async<GetOp>(*impl_, keys, key_terms(Verb::get), options.timeout, std::nullopt,
                   std::move(receiver));
  return std::move(future);
}

std::vector<KeyResult<SetResult>> Client::set_many(Items items, const BatchSetOptions& options) {
  return run_blocking<SetOp>(*impl_, items, set_terms(options, impl_->config()), options.timeout,
                             client::calls::check_ttl(options.ttl));
}

void Client::set_many_async(Items items, const BatchSetOptions& options, SetManyCallback done) {
  run_async<SetOp>(*impl_, items, set_terms(options, impl_->config()), options.timeout,
                   client::calls::check_ttl(options.ttl), {std::move(done)});
}

std::future<std::vector<KeyResult<SetResult>>> Client::set_many_future(
    Items items, const BatchSetOptions& options) {
  auto [receiver, future] = promised<Entries<SetOp>>();
  run_async<SetOp>(*impl_, items, set_terms(options, impl_->config()), options.timeout,
                   client::calls::check_ttl(options.ttl), std::move(receiver));
  return std::move(future);
}

std::vector<KeyResult<RemoveResult>> Client::remove_many(Keys keys, const BatchOptions& options) {
  return run_blocking<RemoveOp>(*impl_, keys, key_terms(Verb::remove), options.timeout,
                                std::nullopt);
}

void Client::remove_many_async(Keys keys, const BatchOptions& options, RemoveManyCallback done) {
  run_async<RemoveOp>(*impl_, keys, key_terms(Verb::remove), options.timeout, std::nullopt,
                      {std::move(done)});
}

std::future<std::vector<KeyResult<RemoveResult>>> Client::remove_many_future(
    Keys keys, const BatchOptions& options) {
  auto [receiver, future] = promised<Entries<RemoveOp>>();
  run_async<RemoveOp>(*impl_, keys, key_terms(Verb::remove), options.timeout, std::nullopt,
                      std::move(receiver));
  return std::move(future);
}

}  // namespace v0
}  // namespace sheaf
