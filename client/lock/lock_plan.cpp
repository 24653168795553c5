// Pure: no socket, clock, entropy, thread or callback.

#include "client/lock/lock_plan.h"

#include <algorithm>

#include "base/text.h"
#include "client/lock/cas_lock_key.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::lock {
namespace {

using namespace std::chrono_literals;
using Request = LockKey::Request;
using End = KeyAnswer::End;
using std::chrono::nanoseconds;

// A lock is not asked for in the last moments of a wait. An answer that the wait does not outlast
// ends the connection in protocols that pair answers by their order, and on memcached a lock lasts
// no longer than its connection.
constexpr std::chrono::milliseconds last_poll{5};

// True if a repetition would get the same answer. A cluster that is changing refuses for a while,
// which is not final.
bool is_final(const Error& error) {
  switch (error.outcome) {
    case Outcome::refused:
      return error.reason != Reason::timed_out && error.reason != Reason::node_down &&
             error.reason != Reason::overtaken;
    case Outcome::invalid:
    case Outcome::unsupported:
    case Outcome::shutdown:
      return true;
    case Outcome::not_sent:
    case Outcome::unknown:
    case Outcome::overloaded:
      break;
  }
  return false;
}

Error lock_error(Outcome outcome, Reason reason, std::string_view node, std::string text) {
  Error error = runtime::local_error(outcome, reason, std::move(text));
  error.node = node;
  return error;
}

std::unique_ptr<LockKey> key_for(const LockTerms& terms, LockMemory& memory) {
  if (terms.by_version) return std::make_unique<CasLockKey>(terms, memory.rivals, terms.controls);
  return std::make_unique<StoreLockKey>(terms);
}

}  // namespace

// A third of the lease leaves time for a second attempt. For very short leases half the belief is
// less than that. Half the idle time-out keeps the lock's connection from being closed as idle.
LeaseTimes::LeaseTimes(const LockTerms& terms) noexcept
    : belief(terms.lease - drift_allowance(terms.lease)),
      renew_interval(std::min({nanoseconds(terms.lease) / 3, belief / 2, terms.idle_timeout / 2})),
      renew_timeout(std::min(terms.attempt_timeout, nanoseconds(terms.lease) / 4)) {}

LockPlan::LockPlan(LockTerms terms, LockMemory& memory, Seed seed, std::unique_ptr<LockKey> key)
    : terms_(std::move(terms)),
      times_(terms_),
      key_(key != nullptr ? std::move(key) : key_for(terms_, memory)),
      memory_(memory),
      random_(seed) {
  tenure_->name = terms_.name;
  set_parent(std::move(terms_.parent));
}

// ---- asking and waiting

void LockPlan::start(Now now) {
  started_at_ = now.mono;
  ask(now);
}

void LockPlan::ask(Now now) {
  const Deadline not_before = memory_.backoff.may_ask(terms_.name);
  const bool too_late = asked_at_ == Deadline{0} && not_before >= terms_.wait_until;  // ask once
  if (not_before > now.mono && !too_late) {
    phase_ = Phase::waiting;
    poll_at_ = not_before;
    return;
  }
  phase_ = Phase::asking;
  poll_at_ = never;
  asked_at_ = now.mono;
  const nanoseconds limit = std::min(terms_.attempt_timeout, times_.belief);
  ask_deadline_ = std::min(now.mono + limit, terms_.wait_until);
  key_->begin(Request::acquire, ask_deadline_, 0, now);
}

void LockPlan::rest(Now now, Deadline free_at) {
  if (now.mono >= poll_at_) return ask(now);  // a hint came while asking
  phase_ = Phase::waiting;
  const auto jitter = static_cast<int>(800 + random_.below(401));
  const nanoseconds usual = nanoseconds(poll_interval) * jitter / 1000;
  // Where nothing can be watched, the first polls come sooner: many locks are held only briefly.
  const nanoseconds soon = nanoseconds(first_poll) * (1 << std::min(polls_, 4u));
  const bool asks_soon = !denied_ || (polls_ > 0 && !key_->watchable());
  poll_at_ = std::min(now.mono + (asks_soon ? std::min(soon, usual) : usual), free_at);
  if (poll_at_ > terms_.wait_until - last_poll) poll_at_ = never;
}

void LockPlan::on_asked(const KeyAnswer& answer, Now now) {
  if (answer.end == End::failed) return on_ask_failed(answer, now);
  heard_at_ = now.mono;
  failure_.reset();
  if (answer.end == End::done) return on_granted(answer, now);
  if (!terms_.patient || now.mono >= terms_.wait_until) return give_up(std::nullopt, now);
  rest(now, answer.free_at);
  ++polls_;
  denied_ = true;
}

void LockPlan::on_granted(const KeyAnswer& answer, Now now) {
  in_question_ = true;
  if (answer.version.empty()) {
    return give_up(
        lock_error(Outcome::refused, Reason::clock_skew, answer.node,
                   "the lock's version cannot serve as a token: the clocks differ too much"),
        now);
  }
  if (now.mono >= answer.sent_at + times_.belief) {
    if (now.mono < terms_.wait_until) return ask(now);
    return give_up(lock_error(Outcome::unknown, Reason::timed_out, answer.node,
                              "the lock was granted after its lease had expired"),
                   now);
  }
  phase_ = Phase::held;
  acquired_ = true;
  connection_ = answer.connection;
  renew_at_ = answer.sent_at + times_.renew_interval;
  tenure_->held = true;
  tenure_->until = answer.sent_at + times_.belief;
  tenure_->token = answer.version;
  tenure_->connection = answer.connection;
  ++tenure_->changes;
}

// An attempt that was cut short says nothing about a node that answered before.
void LockPlan::on_ask_failed(const KeyAnswer& answer, Now now) {
  const Error& error = *answer.error;
  if (answer.in_question) in_question_ = true;
  const nanoseconds limit = std::min(terms_.attempt_timeout, times_.belief);
  const bool cut_short = ask_deadline_ < asked_at_ + limit;
  if (!cut_short || !heard_at_ || !terms_.patient) failure_ = error;
  const Deadline heard_at = heard_at_.value_or(started_at_);
  const bool silent = terms_.patient && now.mono - heard_at >= terms_.patience;
  if (is_final(error)) return give_up(error, now);
  if (silent || now.mono >= terms_.wait_until) return give_up(failure_, now);
  if (terms_.patient) {
    denied_ = true;
    return rest(now);
  }
  if (error.reason == Reason::timed_out || error.reason == Reason::overtaken) return ask(now);
  give_up(failure_, now);
}

void LockPlan::give_up(std::optional<Error> why, Now now) {
  failure_ = std::move(why);
  if (in_question_) {
    begin_freeing(now);
  } else {
    phase_ = Phase::over;
  }
}

void LockPlan::give_up_cancelled(Now now) {
  Error error = runtime::local_error(in_question_ ? Outcome::unknown : Outcome::not_sent,
                                     Reason::cancelled, {});
  error.elapsed = now.mono - started_at_;
  give_up(std::move(error), now);
}

// ---- held

void LockPlan::renew(Now now) {
  phase_ = Phase::renewing;
  const Deadline deadline = std::min(now.mono + times_.renew_timeout, tenure_->until);
  key_->begin(Request::renew, deadline, terms_.controls.bound ? tenure_->connection : 0, now);
}

void LockPlan::on_renewed(const KeyAnswer& answer, Now now) {
  if (phase_ == Phase::releasing) return begin_freeing(now);
  phase_ = Phase::held;
  if (answer.end == End::taken || answer.end == End::gone) {
    const std::string lock = printable(terms_.name);
    return lose(
        lock_error(Outcome::refused, Reason::lock_lost, answer.node,
                   answer.end == End::taken
                       ? "another holder has taken the lock " + lock
                       : "the lock " + lock +
                             " is gone from the store: it was removed or evicted, or it expired"),
        false, now);
  }
  const bool failed = answer.end == End::failed;
  const bool bound = terms_.controls.bound && tenure_->connection != 0;
  if (failed && answer.error->reason == Reason::connection_lost && bound) {
    return on_connection_ended(tenure_->connection, now);
  }
  if (now.mono >= tenure_->until) {
    return lose(
        lock_error(Outcome::unknown, Reason::timed_out, answer.node,
                   "the lease of " + printable(terms_.name) + " expired before it was renewed"),
        true, now);
  }
  if (failed) {
    trouble_ = answer.error->message();
    renew_at_ = now.mono + std::max(nanoseconds(terms_.lease) / 20, nanoseconds(5ms));
    return;
  }
  tenure_->until = answer.sent_at + times_.belief;
  renew_at_ = answer.sent_at + times_.renew_interval;
  if (tenure_->in_doubt && !answer.version.empty()) {
    tenure_->token = answer.version;
    tenure_->in_doubt = false;
    ++tenure_->changes;
  }
}

void LockPlan::on_doubt(Now now) {
  if (!holds()) return;
  tenure_->in_doubt = true;
  ++tenure_->changes;
  if (phase_ == Phase::held) renew(now);
}

void LockPlan::on_connection_ended(std::uint64_t connection, Now now) {
  if (connection_ != connection || !terms_.controls.bound) return;
  connection_.reset();
  if (!holds()) return;
  lose(lock_error(Outcome::unknown, Reason::connection_lost, {},
                  "the connection on which " + printable(terms_.name) + " was locked has ended"),
       true, now);
}

void LockPlan::end_tenure(std::string why) {
  if (!tenure_->held) return;
  tenure_->held = false;
  tenure_->in_doubt = false;
  tenure_->loss = std::move(why);
  ++tenure_->changes;
}

void LockPlan::lose(Error why, bool may_be_ours, Now now) {
  end_tenure(why.text);
  loss_ = std::move(why);
  if (may_be_ours) {
    begin_freeing(now);
  } else {
    phase_ = Phase::over;
  }
}

// ---- release

void LockPlan::release(Deadline report_by, Now now) {
  if (!holds()) {
    if (!freed_) freed_ = Result<bool>(false);  // it was lost before
    return;
  }
  report_by_ = report_by;
  end_tenure("it was released");
  if (phase_ == Phase::held) return begin_freeing(now);
  phase_ = Phase::releasing;
}

// An attempt in question may still be executed, and then the key lives for a lease.
void LockPlan::begin_freeing(Now now) {
  phase_ = Phase::freeing;
  free_until_ = now.mono + terms_.lease;
  free(now);
}

void LockPlan::free(Now now) {
  free_at_ = never;
  free_sent_ = now.mono;
  free_bound_ = connection_.has_value();  // so that it is executed after everything sent before
  key_->begin(Request::release, std::min(now.mono + terms_.attempt_timeout, free_until_),
              connection_.value_or(0), now);
}

void LockPlan::on_freed(const KeyAnswer& answer, Now now) {
  if (answer.end != End::failed) {
    const bool ours = answer.end == End::done;
    if (!freed_) freed_ = Result<bool>(ours);
    if (ours) {
      memory_.backoff.released(terms_.name, now.mono - free_sent_, random_.between(0.5, 1.5), now);
    }
    phase_ = Phase::over;
    return;
  }
  const bool over = is_final(*answer.error) || now.mono >= free_until_;
  if (!freed_ && (over || now.mono >= report_by_)) freed_ = Failure(*answer.error);
  if (over) {
    phase_ = Phase::over;
  } else {
    // If the connection has ended, the next attempt uses another one, soon.
    const bool unbound = std::exchange(free_bound_, false);
    const bool soon = unbound || answer.error->reason == Reason::overtaken;
    free_at_ = now.mono + (soon ? nanoseconds(1ms) : nanoseconds(poll_interval));
  }
}

// ---- inputs and outputs

void LockPlan::on_answer(unsigned id, const socket::Completion& answer) {
  const auto end = key_->on_answer(id, answer);
  if (!end) return;
  switch (phase_) {
    case Phase::asking:
      return on_asked(*end, answer.now);
    case Phase::cancelling:
      if (end->in_question || end->end == End::done) in_question_ = true;
      return give_up_cancelled(answer.now);
    case Phase::renewing:
    case Phase::releasing:
      return on_renewed(*end, answer.now);
    case Phase::freeing:
      return on_freed(*end, answer.now);
    case Phase::waiting:
    case Phase::held:
    case Phase::over:
      return;
  }
}

void LockPlan::on_deadline(Now now) {
  switch (phase_) {
    case Phase::waiting:
      if (now.mono >= terms_.wait_until) return give_up(failure_, now);
      if (now.mono >= poll_at_) ask(now);
      return;
    case Phase::held:
    case Phase::renewing:
      if (now.mono >= tenure_->until) {
        std::string text =
            "the lease of " + printable(terms_.name) + " expired before it was renewed";
        if (!trouble_.empty()) text += " (" + trouble_ + ")";
        return lose(lock_error(Outcome::unknown, Reason::timed_out, {}, std::move(text)), true,
                    now);
      }
      if (now.mono >= renew_at_ && phase_ == Phase::held) renew(now);
      return;
    case Phase::freeing:
      if (!freed_ && now.mono >= report_by_) {
        freed_ = Failure(lock_error(Outcome::unknown, Reason::timed_out, {},
                                    "the release was not answered in time"));
      }
      if (now.mono >= free_at_) free(now);
      return;
    case Phase::asking:
    case Phase::cancelling:
    case Phase::releasing:
    case Phase::over:
      return;
  }
}

void LockPlan::on_hint(Now now) {
  if (phase_ == Phase::waiting) return ask(now);
  if (phase_ == Phase::asking) poll_at_ = now.mono;
}

// An attempt in flight ends at once, and its error says if it may have been executed. A release
// continues, but its result is not reported.
bool LockPlan::on_cancel(Now now) {
  switch (phase_) {
    case Phase::waiting:
      give_up_cancelled(now);
      return false;
    case Phase::asking:
      phase_ = Phase::cancelling;
      return true;
    case Phase::cancelling:
      return true;
    case Phase::releasing:
    case Phase::freeing:
      if (!freed_) freed_ = Failure(lock_error(Outcome::unknown, Reason::cancelled, {}, {}));
      return false;
    case Phase::held:
    case Phase::renewing:
    case Phase::over:
      return false;
  }
  return false;
}

void LockPlan::on_shutdown(Now now) {
  const Error closing =
      runtime::local_error(Outcome::shutdown, Reason::closed, "the client is closing");
  if (holds()) {
    lose(closing, false, now);
  } else if (!settled()) {
    give_up(closing, now);
  }
  if (!freed_) freed_ = Failure(closing);
  phase_ = Phase::over;
}

bool LockPlan::poll_command(calls::Command& command) {
  return phase_ != Phase::over && key_->poll_command(command);
}

Deadline LockPlan::poll_deadline() const {
  switch (phase_) {
    case Phase::waiting:
      return std::min(poll_at_, terms_.wait_until);
    case Phase::held:
      return std::min(renew_at_, tenure_->until);
    case Phase::renewing:
      return tenure_->until;
    case Phase::freeing:
      return freed_ ? free_at_ : std::min(free_at_, report_by_);
    case Phase::asking:
    case Phase::cancelling:
    case Phase::releasing:
    case Phase::over:
      return never;
  }
  return never;
}

std::string_view LockPlan::watched_key() const {
  const bool interested = phase_ == Phase::waiting || phase_ == Phase::asking;
  return interested && denied_ && terms_.patient && key_->watchable()
             ? std::string_view(terms_.name)
             : std::string_view();
}

}  // namespace sheaf::client::lock
