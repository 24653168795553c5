#include "client/lock/lock_plan.h"

#include <algorithm>

#include "base/text.h"
#include "client/outcomes.h"

namespace sheaf::client {
namespace {

using namespace std::chrono_literals;
using protocol::Status;
using std::chrono::nanoseconds;

// Asking again would meet the same answer.
bool is_final(Outcome outcome) {
  switch (outcome) {
    case Outcome::refused:
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
  Error error = local_error(outcome, reason, std::move(text));
  error.node = node;
  return error;
}

}  // namespace

nanoseconds LockPlan::drift_allowance(std::chrono::milliseconds lease) noexcept {
  return nanoseconds(lease) / 100 + 50ms;
}

LockPlan::LockPlan(LockTerms terms, Courtesy& courtesy, Seed seed)
    : terms_(std::move(terms)), courtesy_(courtesy), random_(seed) {
  tenure_->name = terms_.name;
}

// A third of the lease leaves time for a second try; half the belief does for very short leases.
nanoseconds LockPlan::renew_interval() const {
  return std::min({nanoseconds(terms_.lease) / 3, belief() / 2, terms_.idle_timeout / 2});
}

nanoseconds LockPlan::renew_timeout() const {
  return std::min(terms_.attempt_timeout, nanoseconds(terms_.lease) / 4);
}

// ---- asking and waiting

void LockPlan::start(Now now) {
  heard_at_ = now.mono;
  ask(now);
}

void LockPlan::ask(Now now) {
  const Deadline not_before = courtesy_.may_ask(terms_.name);
  const bool too_late = sent_at_ == Deadline{0} && not_before >= terms_.wait_until;  // ask once
  if (not_before > now.mono && !too_late) {
    phase_ = Phase::waiting;
    poll_at_ = not_before;
    return;
  }
  phase_ = Phase::asking;
  hinted_ = false;
  want_ask_ = true;
  sent_at_ = now.mono;
  const nanoseconds limit = std::min(terms_.attempt_timeout, belief());
  ask_deadline_ = std::min(now.mono + limit, terms_.wait_until);
}

void LockPlan::rest(Now now) {
  if (hinted_) return ask(now);
  phase_ = Phase::waiting;
  const auto jittered = nanoseconds(poll_interval) * static_cast<int>(800 + random_.below(401));
  poll_at_ = now.mono + (denied_ ? jittered / 1000 : nanoseconds(first_poll));
}

void LockPlan::on_asked(const socket::Completion& answer) {
  const Now now = answer.now;
  if (phase_ != Phase::asking) return;
  if (!answer.answered) return on_ask_failed(answer);
  heard_ = true;
  heard_at_ = now.mono;
  failure_.reset();
  if (answer.reply.status == Status::done) return on_granted(answer);
  if (!terms_.patient || now.mono >= terms_.wait_until) return give_up(std::nullopt, now);
  rest(now);
  denied_ = true;
}

void LockPlan::on_granted(const socket::Completion& answer) {
  const Now now = answer.now;
  in_question_ = true;
  if (answer.reply.version.empty()) {
    return give_up(
        lock_error(Outcome::refused, Reason::clock_skew, answer.node,
                   "the lock's version cannot serve as a token: the clocks differ too much"),
        now);
  }
  if (now.mono >= sent_at_ + belief()) {
    if (now.mono < terms_.wait_until) return ask(now);
    return give_up(lock_error(Outcome::unknown, Reason::timed_out, answer.node,
                              "the lock was granted when its lease was over"),
                   now);
  }
  phase_ = Phase::held;
  settled_ = acquired_ = true;
  connected_ = true;
  renew_at_ = sent_at_ + renew_interval();
  tenure_->held = true;
  tenure_->until = sent_at_ + belief();
  tenure_->token = answer.reply.version;
  tenure_->connection = answer.connection;
  ++tenure_->changes;
}

// An attempt that had little time says nothing about a node that answered before.
void LockPlan::on_ask_failed(const socket::Completion& answer) {
  const Now now = answer.now;
  if (answer.outcome == Outcome::unknown) in_question_ = true;
  const nanoseconds limit = std::min(terms_.attempt_timeout, belief());
  const bool cut_short = ask_deadline_ < sent_at_ + limit;
  if (!cut_short || !heard_ || !terms_.patient) failure_ = make_error(answer, sent_at_);
  const bool silent = terms_.patient && now.mono - heard_at_ >= terms_.patience;
  if (is_final(answer.outcome)) return give_up(make_error(answer, sent_at_), now);
  if (silent || now.mono >= terms_.wait_until) return give_up(failure_, now);
  if (terms_.patient) {
    denied_ = true;
    return rest(now);
  }
  if (answer.reason == Reason::timed_out) return ask(now);
  give_up(failure_, now);
}

void LockPlan::give_up(std::optional<Error> why, Now now) {
  settled_ = true;
  failure_ = std::move(why);
  if (in_question_) {
    begin_freeing(now);
  } else {
    phase_ = Phase::over;
  }
}

// ---- held

void LockPlan::renew(Now now) {
  renewing_ = want_renew_ = true;
  renew_sent_ = now.mono;
}

void LockPlan::on_renewed(const socket::Completion& answer) {
  const Now now = answer.now;
  renewing_ = false;
  if (phase_ == Phase::releasing) return begin_freeing(now);
  if (phase_ != Phase::held) return;
  if (answer.answered && answer.reply.status != Status::done) {
    return lose(lock_error(Outcome::refused, Reason::lock_lost, answer.node,
                           "another has taken the lock " + printable(terms_.name)),
                false, now);
  }
  if (!answer.answered && answer.reason == Reason::connection_lost && terms_.bound) {
    return on_connection_ended(tenure_->connection, now);
  }
  if (now.mono >= tenure_->until) {
    return lose(
        lock_error(Outcome::unknown, Reason::timed_out, answer.node,
                   "the lease of " + printable(terms_.name) + " was over before its renewal"),
        true, now);
  }
  if (!answer.answered) {
    trouble_ = make_error(answer, renew_sent_).message();
    renew_at_ = now.mono + std::max(nanoseconds(terms_.lease) / 20, nanoseconds(5ms));
    return;
  }
  tenure_->until = renew_sent_ + belief();
  renew_at_ = renew_sent_ + renew_interval();
  if (tenure_->in_doubt && !answer.reply.version.empty()) {
    tenure_->token = answer.reply.version;
    tenure_->in_doubt = false;
    ++tenure_->changes;
  }
}

void LockPlan::on_doubt(Now now) {
  if (phase_ != Phase::held) return;
  tenure_->in_doubt = true;
  ++tenure_->changes;
  if (!renewing_) renew(now);
}

void LockPlan::on_connection_ended(std::uint64_t connection, Now now) {
  if (!connected_ || connection != tenure_->connection || !terms_.bound) return;
  connected_ = false;
  if (phase_ != Phase::held) return;
  lose(lock_error(Outcome::unknown, Reason::connection_lost, {},
                  "the connection that " + printable(terms_.name) + " was locked on has ended"),
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

// ---- giving back

void LockPlan::release(Deadline report_by, Now now) {
  if (phase_ != Phase::held) {
    if (!freed_) freed_ = Result<bool>(false);  // lost before
    return;
  }
  report_by_ = report_by;
  end_tenure("it was released");
  phase_ = Phase::releasing;
  if (!renewing_) begin_freeing(now);
}

// What was asked for may be executed as long as its lease would last.
void LockPlan::begin_freeing(Now now) {
  phase_ = Phase::freeing;
  free_until_ = now.mono + terms_.lease;
  free(now);
}

void LockPlan::free(Now now) {
  free_at_ = never;
  free_sent_ = now.mono;
  want_free_ = true;
}

void LockPlan::on_freed(const socket::Completion& answer) {
  const Now now = answer.now;
  if (phase_ != Phase::freeing) return;
  if (answer.answered) {
    const bool ours = answer.reply.status == Status::done;
    if (!freed_) freed_ = Result<bool>(ours);
    if (ours) {
      courtesy_.released(terms_.name, now.mono - free_sent_, random_.between(0.5, 1.5), now);
    }
    phase_ = Phase::over;
    return;
  }
  Error error = make_error(answer, free_sent_);
  const bool over = is_final(answer.outcome) || now.mono >= free_until_;
  if (!freed_ && (over || now.mono >= report_by_)) freed_ = Failure(std::move(error));
  if (over) {
    phase_ = Phase::over;
  } else {
    // Without the connection it was bound to, it goes on another, soon.
    const bool unbound = std::exchange(free_bound_, false);
    free_at_ = now.mono + (unbound ? nanoseconds(1ms) : nanoseconds(poll_interval));
  }
}

// ---- inputs and outputs

void LockPlan::on_answer(unsigned id, const socket::Completion& answer) {
  switch (static_cast<Id>(id)) {
    case ask_id:
      return on_asked(answer);
    case renew_id:
      return on_renewed(answer);
    case free_id:
      return on_freed(answer);
  }
}

void LockPlan::on_deadline(Now now) {
  switch (phase_) {
    case Phase::waiting:
      if (now.mono >= terms_.wait_until) return give_up(failure_, now);
      if (now.mono >= poll_at_) ask(now);
      return;
    case Phase::held:
      if (now.mono >= tenure_->until) {
        std::string text =
            "the lease of " + printable(terms_.name) + " was over before its renewal";
        if (!trouble_.empty()) text += " (" + trouble_ + ")";
        return lose(lock_error(Outcome::unknown, Reason::timed_out, {}, std::move(text)), true,
                    now);
      }
      if (now.mono >= renew_at_ && !renewing_) renew(now);
      return;
    case Phase::freeing:
      if (!freed_ && now.mono >= report_by_) {
        freed_ = Failure(lock_error(Outcome::unknown, Reason::timed_out, {},
                                    "the release was not answered in time"));
      }
      if (now.mono >= free_at_) free(now);
      return;
    case Phase::asking:
    case Phase::releasing:
    case Phase::over:
      return;
  }
}

void LockPlan::on_hint(Now now) {
  if (phase_ == Phase::waiting) ask(now);
  hinted_ = phase_ == Phase::asking && !want_ask_;
}

void LockPlan::on_shutdown(Now now) {
  const Error closing = local_error(Outcome::shutdown, Reason::closed, "the client is closing");
  if (phase_ == Phase::held) {
    lose(closing, false, now);
  } else if (!settled_) {
    give_up(closing, now);
  }
  if (!freed_) freed_ = Failure(closing);
  phase_ = Phase::over;
}

protocol::Operation LockPlan::lock_operation(Deadline deadline) const {
  protocol::Operation operation;
  operation.verb = protocol::Verb::set;
  operation.condition = protocol::Condition::if_absent_or_equal;
  operation.key = terms_.name;
  operation.value = terms_.nonce;
  operation.ttl = terms_.lease;
  operation.deadline = deadline;
  return operation;
}

bool LockPlan::poll_command(Command& command) {
  command = {};
  if (std::exchange(want_ask_, false)) {
    command.id = ask_id;
    command.operation = lock_operation(ask_deadline_);
    return phase_ == Phase::asking;
  }
  if (std::exchange(want_renew_, false)) {
    command.id = renew_id;
    command.operation = lock_operation(std::min(renew_sent_ + renew_timeout(), tenure_->until));
    command.connection = terms_.bound ? tenure_->connection : 0;
    return phase_ == Phase::held || phase_ == Phase::releasing;
  }
  if (std::exchange(want_free_, false)) {
    command.id = free_id;
    command.operation.verb = protocol::Verb::remove;
    command.operation.condition = protocol::Condition::if_value;
    command.operation.key = terms_.name;
    command.operation.value = terms_.nonce;
    command.operation.deadline = std::min(free_sent_ + terms_.attempt_timeout, free_until_);
    free_bound_ = connected_;  // behind what was sent before
    command.connection = connected_ ? tenure_->connection : 0;
    return phase_ == Phase::freeing;
  }
  return false;
}

Deadline LockPlan::poll_deadline() const {
  switch (phase_) {
    case Phase::waiting:
      return std::min(poll_at_, terms_.wait_until);
    case Phase::held:
      return renewing_ ? tenure_->until : std::min(renew_at_, tenure_->until);
    case Phase::freeing:
      return freed_ ? free_at_ : std::min(free_at_, report_by_);
    case Phase::asking:
    case Phase::releasing:
    case Phase::over:
      return never;
  }
  return never;
}

std::string_view LockPlan::watched_key() const {
  const bool interested = phase_ == Phase::waiting || phase_ == Phase::asking;
  return interested && denied_ && terms_.patient ? std::string_view(terms_.name)
                                                 : std::string_view();
}

}  // namespace sheaf::client
