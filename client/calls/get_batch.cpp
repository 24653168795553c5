#include "client/calls/get_batch.h"

#include <utility>

#include "base/checks.h"

namespace sheaf::client::calls {
namespace {

// The most keys of one request: the server works on one request while the next is encoded.
constexpr std::uint32_t most_keys = 256;

}  // namespace

GetBatch::GetBatch(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan,
                   const BatchTerms& terms, std::vector<Entry> used)
    : BatchFeed(end, ground, std::move(plan)),
      terms_(terms),
      answers_(this->plan(), std::move(used)),
      keys_(this->plan().size(), this->plan().memory()),
      parts_(this->plan().memory()),
      idle_parts_(this->plan().memory()),
      alone_(this->plan().memory()),
      again_(this->plan().memory()) {
  for (std::uint32_t place = 0; place < keys_.size(); ++place) {
    keys_[place] = this->plan().item(this->plan().at(place)).key;
  }
}

void GetBatch::start(Now now) {
  const bool caller_drives = end().caller_drives();  // then the batch exists until the turn ends
  begin(now);
  if (caller_drives) path().loop().defer(*this);  // after the sockets, which write first
}

void GetBatch::run_deferred(Now) { answers_.make_entries(); }

// Starts as many keys as the node has room for, and the keys that must be requested alone.
void GetBatch::feed(std::uint32_t node) {
  start_runs(node);
  ask_again();
  while (!alone_.empty()) {
    const Alone alone = alone_.back();
    alone_.pop_back();
    const std::uint32_t owner = plan().item(plan().at(alone.place)).node;
    start_alone(owner, alone);
    start_runs(owner);
    ask_again();
  }
}

// Consecutive keys of one owner share a request.
void GetBatch::ask_again() {
  while (!again_.empty()) {
    const auto places =
        std::exchange(again_, std::pmr::vector<std::uint32_t>(again_.get_allocator()));
    for (std::size_t i = 0; i < places.size();) {
      const std::uint32_t owner = plan().item(plan().at(places[i])).node;
      const bool scatters = path().cluster().scatters(plan().epoch(), owner);
      std::size_t next = i + 1;
      while (!scatters && next < places.size() && places[next] == places[next - 1] + 1 &&
             plan().item(plan().at(places[next])).node == owner) {
        ++next;
      }
      start_part(owner, places[i], static_cast<std::uint32_t>(next - i), true);
      i = next;
    }
  }
}

void GetBatch::cancel_started(Now now) {
  for (Part& part : parts_) path().cluster().cancel(part, now);
}

void GetBatch::start_runs(std::uint32_t node) {
  for (;;) {
    const bool scatters = path().cluster().scatters(plan().epoch(), node);
    const auto run = plan().next_run(node, scatters ? 1 : most_keys);
    if (run.count == 0) return;
    start_run(node, run);
  }
}

// Splits a run into requests whose keys may be sent together.
void GetBatch::start_run(std::uint32_t node, cluster::BatchPlan::Run run) {
  const std::uint32_t end = run.first + run.count;
  for (std::uint32_t place = run.first; place < end;) {
    std::uint32_t next = place;
    while (next < end && path().sessions().takes_batches(keys_[next])) ++next;
    if (next == place) {
      start_alone(node, {place++});
    } else {
      start_part(node, place, next - place);
      place = next;
    }
  }
}

// A bad key fails alone.
void GetBatch::start_alone(std::uint32_t node, const Alone& alone) {
  if (auto error = check_key(keys_[alone.place])) {
    answers_.fail(alone.place, std::move(*error));
    plan().done(plan().at(alone.place));
  } else {
    start_part(node, alone.place, 1, true, alone.continues);
  }
}

void GetBatch::start_part(std::uint32_t node, std::uint32_t first, std::uint32_t count, bool again,
                          std::uint64_t continues) {
  if (cancelled()) {
    for (std::uint32_t place = first; place < first + count; ++place) {
      answers_.fail(place, cancelled_key(terms_.started, now()));
      plan().done(plan().at(place));
    }
    return;
  }
  if (idle_parts_.empty()) idle_parts_.push_back(&parts_.emplace_back());
  Part& part = *idle_parts_.back();
  idle_parts_.pop_back();
  part.first = first;
  part.count = count;
  part.sink = this;
  part.operation = terms_.operation;
  part.operation.may_be_unsure &= !again;
  part.may_lag = !again;
  part.continues = continues;
  part.parent = terms_.parent;
  if (count == 1) {
    part.operation.key = keys_[first];
  } else {
    part.operation.verb = protocol::Verb::get_many;
    part.operation.keys = std::span(keys_).subspan(first, count);
  }
  path().cluster().start_at(plan().epoch(), node, part, now());
}

void GetBatch::on_item(socket::Request& request, std::uint32_t index, const protocol::Reply& reply,
                       Now now) {
  const Part& part = static_cast<Part&>(request);
  SHEAF_CHECK(index < part.count);
  const std::uint32_t place = part.first + index;
  if (reply.unsure) {
    answers_.doubt(place, reply.status == protocol::Status::absent);
  } else if (reply.status != protocol::Status::refused) {
    answers_.answer(place, reply);
  } else {
    socket::Completion refused;
    refused.outcome = Outcome::refused;
    refused.reason = reply.reason;
    refused.text = reply.text;
    refused.node = path().cluster().node(part.node()).options().identity;
    refused.now = now;
    answers_.fail(place, runtime::make_error(refused, terms_.started));
  }
}

void GetBatch::on_done(socket::Request& request, const socket::Completion& completion) {
  Part& part = static_cast<Part&>(request);
  unanswered_ |= !completion.answered && completion.outcome != Outcome::refused;
  if (part.count == 1) {
    end_alone(part.first, completion);
  } else {
    end_part(part, completion);
  }
  const std::uint32_t node = plan().item(plan().at(part.first)).node;
  idle_parts_.push_back(&part);
  go_on(node, completion.now);
}

// Decides about the keys without an answer. If the request was answered, they are absent, unless
// unsure. If it was not even sent, and its keys may be on other nodes by now, each is requested
// alone.
void GetBatch::end_part(const Part& part, const socket::Completion& completion) {
  const bool moved = config().failover == FailoverMode::rehash ||
                     path().cluster().topology().epoch() != plan().epoch();
  const bool scatters = !completion.answered && completion.outcome == Outcome::not_sent && moved;
  const bool asks_again = asks_owner(part, completion);
  for (std::uint32_t place = part.first; place < part.first + part.count; ++place) {
    if (answers_.is_known(place)) {
      plan().done(plan().at(place));
    } else if (asks_again) {
      again_.push_back(place);
    } else if (completion.answered && answers_.seems_absent(place)) {
      answers_.forget(place);
      again_.push_back(place);
    } else if (scatters || (completion.answered && answers_.unsure(place))) {
      alone_.push_back({place, part.number()});
    } else if (completion.answered) {
      answers_.miss(place);
      plan().done(plan().at(place));
    } else {
      end_alone(place, completion);
    }
  }
}

// True if the keys that a replica did not answer, or had no value for, are requested again from
// their owner.
bool GetBatch::asks_owner(const Part& part, const socket::Completion& completion) const noexcept {
  if (!part.from_replica()) return false;
  if (completion.answered) return config().replica_misses == ReplicaMiss::confirm;
  const bool may_repeat =
      completion.outcome == Outcome::not_sent || completion.outcome == Outcome::unknown;
  return may_repeat && completion.reason != Reason::timed_out &&
         completion.reason != Reason::cancelled;
}

void GetBatch::end_alone(std::uint32_t place, const socket::Completion& completion) {
  if (completion.answered) {
    answers_.answer(place, completion.reply);
  } else {
    answers_.fail(place, runtime::make_error(completion, terms_.started));
  }
  plan().done(plan().at(place));
}

}  // namespace sheaf::client::calls
