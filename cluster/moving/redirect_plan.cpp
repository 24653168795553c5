// Pure: no socket, clock, entropy, thread or callback.

#include "cluster/moving/redirect_plan.h"

#include <algorithm>
#include <utility>

namespace sheaf::cluster {
namespace {

using Kind = RedirectAnswer::Kind;

RedirectStep failure(const RedirectAnswer& answer, Reason reason, std::string_view why) {
  RedirectStep step;
  step.reason = reason;
  step.text = answer.text;
  step.text.append(" (").append(why).append(")");
  step.want_map = true;
  return step;
}

RedirectStep not_allowed(const RedirectAnswer& answer) {
  return failure(answer, Reason::not_authorized, answer.obstacle);
}

std::chrono::nanoseconds doubled(std::chrono::nanoseconds first, unsigned times,
                                 std::chrono::nanoseconds most) {
  return std::min(first * (std::int64_t{1} << std::min(times, 20u)), most);
}

}  // namespace

RedirectStep RedirectPlan::next(const RedirectAnswer& answer, const RedirectTerms& terms, Now now) {
  if (answer.kind != Kind::later && answer.other_slot) {
    return failure(answer, Reason::bad_argument,
                   "the key named for the command is in another slot");
  }
  const bool waits = answer.kind == Kind::later || answer.target.empty();
  if (terms.bound && !waits) {
    RedirectStep step =
        failure(answer, Reason::connection_lost, "the request must stay on its connection");
    step.outcome = Outcome::not_sent;
    return step;
  }
  const bool follows = !waits && answer.allowed;
  if (!answer.from.empty() && !has_asked(answer.from)) asked_.emplace_back(answer.from);
  if (!waits && !follows && !answer.may_be_named) return not_allowed(answer);
  RedirectStep step = follows ? follow(answer, now) : wait(answer, now);
  step.need_map = !waits && !follows;
  if (step.at < terms.deadline) return step;
  if (!waits && !follows) return not_allowed(answer);
  return failure(answer, answer.cause.value_or(Reason::timed_out),
                 "no time is left for another attempt");
}

bool RedirectPlan::has_asked(std::string_view server) const {
  return std::ranges::find(asked_, server) != asked_.end();
}

RedirectStep RedirectPlan::follow(const RedirectAnswer& answer, Now now) {
  ++hops_;
  const bool is_new = !has_asked(answer.target);
  if (is_new) {
    asked_.emplace_back(answer.target);
    waits_ = 0;
  }
  RedirectStep step;
  const bool moved = answer.kind == Kind::moved;
  step.kind = moved ? RedirectStep::Kind::send : RedirectStep::Kind::send_asking;
  step.target = answer.target;
  step.at = now.mono;
  step.mend = moved;
  step.want_map = moved;
  step.reconnect = answer.target == answer.from;
  const bool after_wait = std::exchange(waited_, false);
  const bool pauses = step.reconnect || (!is_new && !after_wait) || hops_ > options_.quick_hops;
  if (pauses) step.at += doubled(options_.bounce, bounces_++, options_.most);
  return step;
}

RedirectStep RedirectPlan::wait(const RedirectAnswer& answer, Now now) {
  hops_ = 0;
  bounces_ = 0;
  waited_ = true;
  RedirectStep step;
  step.kind = RedirectStep::Kind::send;
  step.target = answer.from;
  step.at = now.mono + doubled(options_.later, waits_++, options_.most);
  step.want_map = answer.kind != Kind::later || waits_ > 3;
  return step;
}

}  // namespace sheaf::cluster
