#include "client/calls/get_batch.h"

#include <utility>

#include "base/checks.h"

namespace sheaf::client::calls {

GetBatch::GetBatch(WorkEnd& end, BatchGround ground, cluster::BatchPlan plan,
                   const BatchTerms& terms, std::vector<Entry> used)
    : ListFeed(end, ground, std::move(plan), terms),
      answers_(this->plan(), std::move(used)),
      again_(this->plan().memory()) {}

void GetBatch::start(Now now) {
  const bool caller_drives = end().caller_drives();  // then the batch exists until the turn ends
  begin(now);
  if (caller_drives) path().loop().defer(*this);  // after the sockets, which write first
}

void GetBatch::run_deferred(Now) { answers_.make_entries(); }

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
      start_keys(owner, places[i], static_cast<std::uint32_t>(next - i), true);
      i = next;
    }
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
      start_keys(node, place, next - place);
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
    start_keys(node, alone.place, 1, true, alone.continues);
  }
}

void GetBatch::start_keys(std::uint32_t node, std::uint32_t first, std::uint32_t count, bool again,
                          std::uint64_t continues) {
  if (cancelled()) {
    for (std::uint32_t place = first; place < first + count; ++place) {
      answers_.fail(place, cancelled_key(terms().started, now()));
      plan().done(plan().at(place));
    }
    return;
  }
  Part& part = make_part(first, count, continues);
  part.operation.may_be_unsure &= !again;
  part.may_lag = !again;
  if (count == 1) {
    part.operation.key = keys_[first];
  } else {
    part.operation.verb = protocol::Verb::get_many;
    part.operation.keys = std::span(keys_).subspan(first, count);
  }
  start_part(node, part);
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
    answers_.fail(place, runtime::make_error(completion_of(part, reply, now), terms().started));
  }
}

// Decides about the keys without an answer. If the request was answered, they are absent, unless
// unsure. If it was not even sent, and its keys may be on other nodes by now, each is requested
// alone.
void GetBatch::end_part(const Part& part, const socket::Completion& completion) {
  unanswered_ |= !completion.answered && completion.outcome != Outcome::refused;
  if (part.count == 1) return end_alone(part.first, completion);
  const bool scatters = may_have_moved(completion);
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
    answers_.fail(place, runtime::make_error(completion, terms().started));
  }
  plan().done(plan().at(place));
}

}  // namespace sheaf::client::calls
