#include "client/get_batch.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::client {
namespace {

// Of one request: the server works on the first of them while the next is spelled.
constexpr std::uint32_t most_keys = 128;
// Larger values become strings at once: they are not copied twice.
constexpr std::size_t small_value = 1'024;

}  // namespace

Batch<GetOp>::Batch(Client::Impl& impl, cluster::BatchPlan plan, const BatchTerms& terms)
    : impl_(impl), plan_(std::move(plan)), terms_(terms), known_(plan_.size()) {
  results_.reserve(plan_.size());
  keys_.reserve(plan_.size());
  for (std::uint32_t i = 0; i < plan_.size(); ++i) {
    results_.emplace_back(std::string(plan_.item(i).key));
  }
  for (std::uint32_t place = 0; place < plan_.size(); ++place) {
    keys_.push_back(results_[plan_.at(place)].key);
  }
}

void Batch<GetOp>::begin(Now now) {
  now_ = now;
  feeding_ = true;
  for (const std::uint32_t node : plan_.nodes()) work(node);
  feeding_ = false;
  if (plan_.unfinished() == 0) on_batch_done();
}

// What the node has room for, and the keys that are to be asked for alone.
void Batch<GetOp>::work(std::uint32_t node) {
  feed(node);
  while (!alone_.empty()) {
    const std::uint32_t place = alone_.back();
    alone_.pop_back();
    const std::uint32_t owner = plan_.item(plan_.at(place)).node;
    start_alone(owner, place);
    feed(owner);
  }
}

void Batch<GetOp>::feed(std::uint32_t node) {
  for (;;) {
    const bool scatters = impl_.cluster().scatters(node);
    const auto run = plan_.next_run(node, scatters ? 1 : most_keys);
    if (run.count == 0) return;
    start(node, run);
  }
}

// In pieces of keys that may stand together.
void Batch<GetOp>::start(std::uint32_t node, cluster::BatchPlan::Run run) {
  const std::uint32_t end = run.first + run.count;
  for (std::uint32_t place = run.first; place < end;) {
    std::uint32_t next = place;
    while (next < end && impl_.sessions().lists(keys_[next])) ++next;
    if (next == place) {
      start_alone(node, place++);
    } else {
      start_part(node, place, next - place);
      place = next;
    }
  }
}

// A bad key spoils itself only.
void Batch<GetOp>::start_alone(std::uint32_t node, std::uint32_t place) {
  if (auto error = check_key(keys_[place])) {
    end_key(place, Failure(std::move(*error)));
  } else {
    start_part(node, place, 1);
  }
}

void Batch<GetOp>::start_part(std::uint32_t node, std::uint32_t first, std::uint32_t count) {
  if (idle_parts_.empty()) idle_parts_.push_back(&parts_.emplace_back());
  Part& part = *idle_parts_.back();
  idle_parts_.pop_back();
  part.first = first;
  part.count = count;
  part.sink = this;
  part.operation = terms_.operation;
  if (count == 1) {
    part.operation.key = keys_[first];
  } else {
    part.operation.verb = protocol::Verb::get_many;
    part.operation.keys = std::span(keys_).subspan(first, count);
  }
  impl_.cluster().start_at(node, part, now_);
}

void Batch<GetOp>::on_item(socket::Request& request, std::uint32_t index,
                           const protocol::Reply& reply, Now now) {
  const Part& part = static_cast<Part&>(request);
  SHEAF_CHECK(index < part.count);
  const std::uint32_t place = part.first + index;
  Known& known = known_[place];
  known.state = reply.unsure ? Known::State::unsure : Known::State::told;
  if (reply.status == protocol::Status::done && reply.value.size() <= small_value) {
    put_aside(known, reply);
    return;
  }
  GetOp::Out& result = results_[plan_.at(place)].result;
  if (reply.status != protocol::Status::refused) {
    result = GetOp::convert(reply);
    return;
  }
  socket::Completion refused;
  refused.outcome = Outcome::refused;
  refused.reason = reply.reason;
  refused.text = reply.text;
  refused.node = impl_.cluster().node(request.node).options().identity;
  refused.now = now;
  result = GetOp::convert(refused, terms_.started);
}

void Batch<GetOp>::put_aside(Known& known, const protocol::Reply& reply) {
  if (known.state == Known::State::unsure) return;
  const std::size_t size = reply.value.size() + reply.version.size();
  if (bytes_.empty()) bytes_.reserve(std::min<std::size_t>(plan_.size() * (size + 4), 1u << 20));
  known = {Known::State::put_aside, static_cast<std::uint8_t>(reply.version.size()),
           static_cast<std::uint32_t>(reply.value.size()), reply.flags, bytes_.size()};
  bytes_.append(reply.value).append(reply.version);
}

std::vector<Batch<GetOp>::Entry> Batch<GetOp>::take_results() {
  const std::string_view bytes = bytes_;
  for (std::uint32_t place = 0; place < plan_.size(); ++place) {
    const Known& known = known_[place];
    if (known.state != Known::State::put_aside) continue;
    protocol::Reply reply;
    reply.value = bytes.substr(known.at, known.size);
    reply.version = bytes.substr(known.at + known.size, known.version_size);
    reply.flags = known.flags;
    results_[plan_.at(place)].result = GetOp::convert(reply);
  }
  return std::move(results_);
}

void Batch<GetOp>::on_done(socket::Request& request, const socket::Completion& completion) {
  Part& part = static_cast<Part&>(request);
  if (part.count == 1) {
    end_key(part.first, GetOp::convert(completion, terms_.started));
  } else {
    end_part(part, completion);
  }
  const std::uint32_t node = plan_.item(plan_.at(part.first)).node;
  idle_parts_.push_back(&part);
  if (feeding_) return;  // whoever started it goes on
  now_ = completion.now;
  feeding_ = true;
  work(node);
  feeding_ = false;
  if (plan_.unfinished() == 0) on_batch_done();
}

// Keys that were not told: absent if the request was answered; if it was not even sent, and other
// nodes stand in for this one, each key finds its own.
void Batch<GetOp>::end_part(const Part& part, const socket::Completion& completion) {
  const bool scatters = !completion.answered && completion.outcome == Outcome::not_sent &&
                        impl_.config().failover == FailoverMode::rehash;
  for (std::uint32_t place = part.first; place < part.first + part.count; ++place) {
    const Known::State known = known_[place].state;
    if (known == Known::State::told || known == Known::State::put_aside) {
      plan_.done(plan_.at(place));
    } else if (scatters || (completion.answered && known == Known::State::unsure)) {
      alone_.push_back(place);
    } else if (completion.answered) {
      end_key(place, GetResult());
    } else {
      end_key(place, Failure(make_error(completion, terms_.started)));
    }
  }
}

void Batch<GetOp>::end_key(std::uint32_t place, GetOp::Out out) {
  const std::uint32_t index = plan_.at(place);
  results_[index].result = std::move(out);
  plan_.done(index);
}

}  // namespace sheaf::client
