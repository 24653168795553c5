#include "client/calls/set_batch.h"

#include <utility>

#include "base/checks.h"

namespace sheaf::client::calls {
namespace {

// The most keys of one request, and of their values after which the next request begins: the server
// works on one request while the next is encoded.
constexpr std::uint32_t most_keys_set = 256;
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
    : BatchFeed(end, ground, std::move(plan)),
      terms_(terms),
      known_(this->plan().size(), Known::nothing) {
  const cluster::BatchPlan& all = this->plan();
  results_.reserve(all.size());
  for (std::uint32_t index = 0; index < all.size(); ++index) {
    results_.emplace_back(std::string(all.item(index).key));
  }
  keys_.reserve(all.size());
  values_.reserve(all.size());
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    keys_.push_back(results_[all.at(place)].key);
    values_.push_back(all.item(all.at(place)).value);
  }
}

// Starts as many keys as the node has room for, and the keys that must be set alone.
void SetBatch::feed(std::uint32_t node) {
  start_runs(node);
  while (!alone_.empty()) {
    const Alone alone = alone_.back();
    alone_.pop_back();
    const std::uint32_t owner = plan().item(plan().at(alone.place)).node;
    if (!refuse(alone.place)) start_part(owner, alone.place, 1, alone.continues);
    start_runs(owner);
  }
}

void SetBatch::cancel_started(Now now) {
  for (Part& part : parts_) path().cluster().cancel(part, now);
}

void SetBatch::start_runs(std::uint32_t node) {
  for (;;) {
    const bool scatters = path().cluster().scatters(plan().epoch(), node);
    const auto run = plan().next_run(node, scatters ? 1 : most_keys_set);
    if (run.count == 0) return;
    start_run(node, run);
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
      start_part(node, place, next - place);
      place = next;
    } else if (!refuse(place)) {
      start_part(node, place++, 1);
    } else {
      ++place;
    }
  }
}

bool SetBatch::may_be_listed(std::uint32_t place) {
  return !obstacle(place) && path().sessions().sets_batches(keys_[place], values_[place]);
}

// The reason that a key is not set at all, if any.
std::optional<Error> SetBatch::obstacle(std::uint32_t place) {
  if (cancelled()) return cancelled_key(terms_.started, now());
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

void SetBatch::start_part(std::uint32_t node, std::uint32_t first, std::uint32_t count,
                          std::uint64_t continues) {
  if (idle_parts_.empty()) idle_parts_.push_back(&parts_.emplace_back());
  Part& part = *idle_parts_.back();
  idle_parts_.pop_back();
  part.first = first;
  part.count = count;
  part.sink = this;
  part.operation = terms_.operation;
  part.continues = continues;
  part.parent = terms_.parent;
  if (count == 1) {
    part.operation.key = keys_[first];
    part.operation.value = values_[first];
  } else {
    part.operation.verb = protocol::Verb::set_many;
    part.operation.keys = std::span(keys_).subspan(first, count);
    part.operation.values = std::span(values_).subspan(first, count);
  }
  path().cluster().start_at(plan().epoch(), node, part, now());
}

void SetBatch::on_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
                       Now now) {
  const Part& part = static_cast<Part&>(request);
  SHEAF_CHECK(index < part.count);
  const std::uint32_t place = part.first + index;
  known_[place] = reply.unsure ? Known::not_set : Known::result;
  if (reply.unsure) return;
  socket::Completion completion;
  completion.answered = reply.status != protocol::Status::refused;
  completion.reply = reply;
  completion.outcome = Outcome::refused;
  completion.reason = reply.reason;
  completion.text = reply.text;
  completion.node = path().cluster().node(part.node()).options().identity;
  completion.now = now;
  results_[plan().at(place)].result = runtime::SetOp::convert(completion, terms_.started);
}

void SetBatch::on_done(socket::Request& request, const socket::Completion& completion) {
  Part& part = static_cast<Part&>(request);
  if (part.count == 1) {
    end(part.first, completion);
  } else {
    end_part(part, completion);
  }
  const std::uint32_t node = plan().item(plan().at(part.first)).node;
  idle_parts_.push_back(&part);
  go_on(node, completion.now);
}

// Decides about the keys without a result. Those that were certainly not set, and may be set
// elsewhere or alone, are set alone.
void SetBatch::end_part(const Part& part, const socket::Completion& completion) {
  const bool moved = config().failover == FailoverMode::rehash ||
                     path().cluster().topology().epoch() != plan().epoch();
  const bool scatters = !completion.answered && completion.outcome == Outcome::not_sent && moved;
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
  results_[index].result = runtime::SetOp::convert(completion, terms_.started);
  plan().done(index);
}

}  // namespace sheaf::client::calls
