// Pure: no socket, clock, entropy, thread or callback.

#include "extras/leader/campaign_plan.h"

namespace sheaf::leader {

bool is_final(const Error& error) noexcept {
  switch (error.outcome) {
    case Outcome::invalid:
    case Outcome::unsupported:
    case Outcome::shutdown:
      return true;
    case Outcome::not_sent:
    case Outcome::unknown:
    case Outcome::overloaded:
      return error.reason == Reason::cancelled;
    case Outcome::refused:
      break;
  }
  switch (error.reason) {
    case Reason::other:
    case Reason::timed_out:
    case Reason::node_down:
    case Reason::connect_failed:
    case Reason::connection_lost:
    case Reason::overtaken:
    case Reason::queue_full:
    case Reason::out_of_memory:
    case Reason::quota:
    case Reason::read_only:
    case Reason::clock_skew:
    case Reason::foreign_server:
      return false;
    default:
      return true;
  }
}

std::optional<std::chrono::nanoseconds> CampaignPlan::after(const Error* error,
                                                            Deadline now) noexcept {
  using std::chrono::nanoseconds;
  if (error == nullptr) {  // a year is the longest wait of a lock, but not of a campaign
    return until_.endless() ? std::optional(nanoseconds(0)) : std::nullopt;
  }
  if (is_final(*error) || until_.over(now)) return std::nullopt;
  if (now - asked_at_ >= longest_pause) pause_ = first_pause;
  const nanoseconds pause = pause_;
  pause_ = std::min<nanoseconds>(2 * pause_, longest_pause);
  return std::min(pause, until_.left(now));
}

}  // namespace sheaf::leader
