#include "client/calls/set_batch.h"

#include <utility>

#include "base/checks.h"

namespace sheaf::client::calls {
namespace {

// After so many bytes the next request begins: the server works on one while the next is encoded.
constexpr std::size_t enough_bytes = 64 * 1024;

}  // namespace

// Servers of a cluster take the keys of one slot together, which the keys of a batch hardly ever
// have in common.
bool SetBatch::suits(runtime::Context& context, const protocol::Operation& operation) {
  const bool plain = operation.ttl.count() == 0 && !operation.persist;
  runtime::Path& path = context.path();
  return plain && context.config().pool_max == 1 && !path.follows_map() &&
         path.sessions().sets_batches("k", {});
}

SetBatch::SetBatch(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan,
                   const BatchTerms& terms)
    : ListFeed(end, ground, std::move(plan), terms), known_(this->plan().size(), Known::nothing) {
  const cluster::BatchPlan& all = this->plan();
  results_.reserve(all.size());
  for (std::uint32_t index = 0; index < all.size(); ++index) {
    results_.emplace_back(std::string(all.item(index).key));
  }
  values_.reserve(all.size());
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    values_.push_back(all.item(all.at(place)).value);
  }
}

// Splits a run into requests whose keys may be sent together. A bad key or value fails alone.
void SetBatch::start_run(std::uint32_t node, cluster::BatchPlan::Run run) {
  const std::uint32_t end = run.first + run.count;
  for (std::uint32_t place = run.first; place < end;) {
    std::uint32_t next = place;
    std::size_t bytes = 0;
    while (next < end && bytes < enough_bytes && may_be_listed(next)) {
      bytes += keys_[next].size() + values_[next].size();
      ++next;
    }
    if (next > place) {
      start_keys(node, place, next - place);
      place = next;
    } else {
      start_alone(node, {place++});
    }
  }
}

void SetBatch::start_alone(std::uint32_t node, const Alone& alone) {
  if (!refuse(alone.place)) start_keys(node, alone.place, 1, alone.continues);
}

bool SetBatch::may_be_listed(std::uint32_t place) {
  return !obstacle(place) && path().sessions().sets_batches(keys_[place], values_[place]);
}

// The reason that a key is not set at all, if any.
std::optional<Error> SetBatch::obstacle(std::uint32_t place) {
  if (cancelled()) return cancelled_key(terms().started, now());
  return first_of(check_key(keys_[place]), check_value(values_[place], config()));
}

bool SetBatch::refuse(std::uint32_t place) {
  auto error = obstacle(place);
  if (!error) return false;
  const std::uint32_t index = plan().at(place);
  results_[index].result = Failure(std::move(*error));
  plan().done(index);
  return true;
}

void SetBatch::start_keys(std::uint32_t node, std::uint32_t first, std::uint32_t count,
                          std::uint64_t continues) {
  Part& part = make_part(first, count, continues);
  if (count == 1) {
    part.operation.key = keys_[first];
    part.operation.value = values_[first];
  } else {
    part.operation.verb = protocol::Verb::set_many;
    part.operation.keys = std::span(keys_).subspan(first, count);
    part.operation.values = std::span(values_).subspan(first, count);
  }
  start_part(node, part);
}

void SetBatch::on_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
                       Now now) {
  const Part& part = static_cast<Part&>(request);
  SHEAF_CHECK(index < part.count);
  const std::uint32_t place = part.first + index;
  known_[place] = reply.unsure ? Known::not_set : Known::result;
  if (reply.unsure) return;
  results_[plan().at(place)].result =
      runtime::SetOp::convert(completion_of(part, reply, now), terms().started);
}

// Decides about the keys without a result. Those that were certainly not set, and may be set
// elsewhere or alone, are set alone.
void SetBatch::end_part(const Part& part, const socket::Completion& completion) {
  if (part.count == 1) return end(part.first, completion);
  const bool scatters = may_have_moved(completion);
  for (std::uint32_t place = part.first; place < part.first + part.count; ++place) {
    const Known known = std::exchange(known_[place], Known::nothing);
    if (known == Known::result) {
      plan().done(plan().at(place));
    } else if (known == Known::not_set || scatters) {
      alone_.push_back({place, part.number()});
    } else {
      SHEAF_CHECK(!completion.answered);  // else each key would have had an item
      end(place, completion);
    }
  }
}

void SetBatch::end(std::uint32_t place, const socket::Completion& completion) {
  const std::uint32_t index = plan().at(place);
  results_[index].result = runtime::SetOp::convert(completion, terms().started);
  plan().done(index);
}

}  // namespace sheaf::client::calls
