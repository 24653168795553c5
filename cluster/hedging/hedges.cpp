#include "cluster/hedging/hedges.h"

#include <utility>

namespace sheaf::cluster {
namespace {

using Stage = Hedged::Stage;
using Kind = protocol::Redirect::Kind;

// If our own process did not run for as long, answers may have come meanwhile.
constexpr std::chrono::milliseconds longest_lateness{5};

}  // namespace

void Hedges::begin(Request& request, unsigned owner, Now now) {
  const protocol::Operation& operation = request.operation;
  if (operation.verb != protocol::Verb::get || !operation.keys.empty()) return;
  if (request.at_owner || request.only_on != 0 || !request.route.empty()) return;
  if (parts_.nodes.topology().replicas(owner).empty()) return;
  plan_.on_begin();
  if (idle_.empty()) idle_.push_back(&records_.emplace_back());
  Hedged& hedged = *idle_.back();
  idle_.pop_back();
  hedged.call = &request;
  hedged.began = now.mono;
  hedged.stage = Stage::one;
  request.hedged_ = &hedged;
  if (const auto delay = plan_.delay()) wait(hedged, now.mono + *delay);
}

void Hedges::wait(Hedged& hedged, Deadline until) {
  if (until >= hedged.call->operation.deadline) return;
  waiting_.push(hedged, until);
  parts_.timer.need(until);
}

void Hedges::advance(Now now) {
  const auto late = parts_.loop.lateness();
  while (Hedged* const due = waiting_.pop_due(now.mono)) {
    if (late >= longest_lateness) {
      wait(*due, now.mono + late);
    } else {
      consider(*due, now);
    }
  }
  parts_.timer.need(waiting_.next());
}

// A request that waits outside a node, for others on its key, is not hedged.
void Hedges::consider(Hedged& hedged, Now now) {
  const Request& first = *hedged.call;
  if (!first.linked()) return;
  const auto waited = now.mono - hedged.began;
  const unsigned owner = parts_.nodes.topology().owner(first.operation.key);
  const unsigned node = owner != nobody ? parts_.nodes.fastest_of(owner, first.node_, now) : nobody;
  const auto expected =
      node != nobody ? parts_.nodes[node].expected_latency(now, true) : std::nullopt;
  if (!expected || !plan_.decide(waited, *expected)) return wait(hedged, now.mono + waited);
  send(hedged, node, now);
}

// The second attempt may end before this returns.
void Hedges::send(Hedged& hedged, unsigned node, Now now) {
  Request& first = *hedged.call;
  if (hedged.other == nullptr) hedged.other = std::make_unique<Request>();
  Request& second = *hedged.other;
  hedged.key = first.operation.key;
  second.operation = first.operation;
  second.operation.key = hedged.key;
  second.sink = this;
  second.counted = first.counted;
  second.parent = first.parent;
  second.started_at = first.started_at;
  second.hedged_ = &hedged;
  second.go_to(node, parts_.nodes.topology().member(node)->is_replica());
  second.provisional = true;
  first.provisional = true;
  hedged.stage = Stage::both;
  ++parts_.nodes.hedges(node).sent;
  watch(second);
  parts_.nodes[node].start(second, now);
}

// It ends just after its call, so that the time-out of a call counts once.
void Hedges::watch(Request& other) {
  parts_.deadlines.push(other, other.operation.deadline + std::chrono::nanoseconds(1));
}

bool Hedges::on_useless(Request& attempt, const protocol::Reply& reply, Now now) {
  Hedged& hedged = *attempt.hedged_;
  const bool first = &attempt == hedged.call;
  if (first || hedged.stage == Stage::late_first) plan_.on_answer(now.mono - hedged.began);
  if (!first) {
    other_failed(hedged, now);
    return true;
  }
  const bool moves = !attempt.replica_ && reply.redirect && reply.redirect->kind != Kind::later;
  if (!moves || hedged.stage != Stage::both) return leave_to_second(hedged);
  attempt.provisional = false;
  let_second_go_on(hedged, now);
  return false;
}

bool Hedges::on_lost(Request& attempt, Now now) {
  Hedged& hedged = *attempt.hedged_;
  if (&attempt == hedged.call) return leave_to_second(hedged);
  other_failed(hedged, now);
  return true;
}

// The first attempt has failed. Returns true if there is a second one. Its submitter takes an
// answer that lags, so operations on its key need not wait for it.
bool Hedges::leave_to_second(Hedged& hedged) {
  if (hedged.stage != Stage::both) {
    forget(hedged);
    return false;
  }
  hedged.stage = Stage::second;
  parts_.sender.release_key(*hedged.call);
  return true;
}

void Hedges::other_failed(Hedged& hedged, Now now) {
  parts_.deadlines.remove(*hedged.other);
  if (hedged.stage == Stage::both) {
    hedged.stage = Stage::one;
    hedged.call->provisional = hedged.call->replica_;
    return;
  }
  Request* const call = hedged.call;  // null if it has ended
  forget(hedged);
  if (call != nullptr && !parts_.owner.ask_owner(*call, now)) end_unanswered(*call, now);
}

// The call continues, or ends, without the second attempt.
void Hedges::let_second_go_on(Hedged& hedged, Now now) {
  Request& second = *hedged.other;
  if (!parts_.nodes[second.node_].hand_over(second, second, now)) {
    parts_.deadlines.remove(second);
    return forget(hedged);
  }
  hedged.call->hedged_ = nullptr;
  hedged.call = nullptr;
  hedged.stage = Stage::late_second;
  second.counted = false;
}

void Hedges::learn(const Hedged& hedged, const socket::Completion& completion) noexcept {
  const auto took = completion.now.mono - hedged.began;
  if (completion.answered) {
    plan_.on_answer(took);
  } else if (completion.reason == Reason::timed_out || completion.reason == Reason::cancelled) {
    plan_.on_given_up(took);
  }
}

void Hedges::on_end(Request& attempt, const socket::Completion& completion) {
  Hedged& hedged = *attempt.hedged_;
  if (&attempt != hedged.call) return;  // on_done() follows
  learn(hedged, completion);
  if (hedged.stage == Stage::both) return let_second_go_on(hedged, completion.now);
  forget(hedged);
}

void Hedges::on_done(socket::Request& other, const socket::Completion& completion) {
  Hedged& hedged = *static_cast<Request&>(other).hedged_;
  switch (hedged.stage) {
    case Stage::both:
      if (!completion.answered) return other_failed(hedged, completion.now);
      return end_call(hedged, completion);
    case Stage::second:
      return end_call(hedged, completion);
    case Stage::late_first:
      learn(hedged, completion);
      return forget(hedged);
    case Stage::one:
    case Stage::late_second:
      return forget(hedged);
  }
}

// The call ends as the second attempt has. Our request is free by now, so it takes the place of the
// first attempt, which is the submitter's.
void Hedges::end_call(Hedged& hedged, const socket::Completion& completion) {
  Request& call = *hedged.call;
  Request& other = *hedged.other;
  const unsigned slow = call.node_;
  const bool lags = call.replica_;
  if (completion.answered) ++parts_.nodes.hedges(other.node_).won;
  parts_.sender.release_key(call);
  const bool goes_on =
      hedged.stage == Stage::both && parts_.nodes[slow].hand_over(call, other, completion.now);
  call.go_to(other.node_, other.replica_);
  if (goes_on) {
    call.hedged_ = nullptr;
    hedged.call = nullptr;
    hedged.stage = Stage::late_first;
    other.go_to(slow, lags);
    other.provisional = true;
    other.counted = false;
    watch(other);
  } else {
    forget(hedged);
  }
  parts_.owner.on_request_done(call, completion);
  call.sink->on_done(call, completion);
}

// Neither attempt has an answer, and the owner cannot be asked.
void Hedges::end_unanswered(Request& request, Now now) {
  const bool late = request.operation.deadline <= now.mono;
  const Topology& topology = parts_.nodes.topology();
  if (!late && topology.owner(request.operation.key) == nobody) {
    return parts_.sender.end_unowned(request, now);
  }
  socket::Completion completion;
  completion.outcome = late ? Outcome::unknown : Outcome::shutdown;
  completion.reason = late ? Reason::timed_out : Reason::closed;
  if (!late) completion.text = "the client is closing";
  completion.node = parts_.nodes[request.node_].options().identity;
  completion.now = now;
  parts_.sender.end(request, completion);
}

void Hedges::forget(Hedged& hedged) {
  waiting_.remove(hedged);
  if (hedged.call != nullptr) hedged.call->hedged_ = nullptr;
  hedged.call = nullptr;
  if (hedged.other != nullptr) hedged.other->parent.reset();
  idle_.push_back(&hedged);
}

}  // namespace sheaf::cluster
