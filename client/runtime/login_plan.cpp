// Pure: no socket, clock, entropy, thread or callback.

#include "client/runtime/login_plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sheaf::client::runtime {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds longest_lead = std::chrono::minutes(5);
constexpr nanoseconds shortest_lead = std::chrono::seconds(1);
constexpr nanoseconds first_pause = std::chrono::seconds(1);
constexpr nanoseconds longest_pause = std::chrono::seconds(30);

// How long before an end that is `left` away a renewal begins.
nanoseconds lead(nanoseconds left) noexcept {
  const nanoseconds wanted = std::clamp(left / 5, shortest_lead, longest_lead);
  return std::min(wanted, left / 2);  // for a login that lasts two seconds or less
}

Deadline later(Deadline from, nanoseconds by) noexcept {
  return by < never - from ? from + by : never;
}

nanoseconds time_left(std::optional<std::chrono::milliseconds> ends_at_wall, Now now) noexcept {
  constexpr auto for_ever = std::chrono::hours(24 * 365 * 100);  // no overflow either
  if (!ends_at_wall || *ends_at_wall >= now.wall + for_ever) return never;
  return std::max(*ends_at_wall, std::chrono::milliseconds(0)) - now.wall;
}

}  // namespace

bool LoginPlan::on_connect(Now now) noexcept {
  const bool spare = now.mono < std::exchange(spare_until_, Deadline{0});
  if (spare && present_ != nullptr && now.mono < present_ends_) return false;
  ++waiting_;
  if (!asked_) want(refused_ ? CredentialNeed::refused : CredentialNeed::connect);
  return true;
}

void LoginPlan::on_wait_over() noexcept {
  if (waiting_ > 0) --waiting_;
}

void LoginPlan::on_refused() noexcept {
  if (present_ == nullptr || std::exchange(refused_, true)) return;
  want(CredentialNeed::refused);
}

void LoginPlan::on_change() noexcept { want(CredentialNeed::renewal); }

void LoginPlan::on_time(Now now) noexcept {
  if (now.mono >= oldest_ends_) {
    if (now.mono >= present_ends_) {
      present_ = nullptr;
      present_ends_ = never;
      failing_ = true;
    }
    oldest_ends_ = present_ends_;
    mixed_ = false;
    publish_ = Publish::for_all;
  }
  if (now.mono >= renew_at_) {
    renew_at_ = never;
    want(CredentialNeed::renewal);
  }
}

bool LoginPlan::on_answer(protocol::SharedLogin login,
                          std::optional<std::chrono::milliseconds> ends_at_wall, Now now) {
  const nanoseconds left = time_left(ends_at_wall, now);
  if (left <= nanoseconds(0)) {
    on_failure(now);
    return false;
  }
  const CredentialNeed need = std::exchange(asked_, std::nullopt).value_or(CredentialNeed::connect);
  const bool other = present_ == nullptr || login == nullptr || *login != *present_;
  const bool for_all =
      kind_ == Kind::file || need != CredentialNeed::connect || std::exchange(failing_, false);
  failing_ = false;
  pause_ = nanoseconds(0);
  const Deadline ends = later(now.mono, left);
  if (other) {
    present_ = std::move(login);
    refused_ = false;
  }
  present_ends_ = ends;
  const Deadline renew_at = ends == never ? never : ends - lead(left);
  if (for_all && (other || mixed_)) {
    publish_ = Publish::for_all;
    mixed_ = false;
  } else if (other) {
    publish_ = std::max(publish_, Publish::for_new);
    mixed_ = true;
  }
  // Connections that have not renewed their login still end when it does.
  oldest_ends_ = mixed_ ? std::min(oldest_ends_, ends) : ends;
  renew_at_ = mixed_ ? std::min(renew_at_, renew_at) : renew_at;
  const bool unused = std::exchange(waiting_, 0) == 0 && (other || need == CredentialNeed::connect);
  if (unused && kind_ == Kind::callback) {
    spare_until_ = later(now.mono, spare_life);
  }
  return true;
}

void LoginPlan::on_failure(Now now) noexcept {
  asked_.reset();
  waiting_ = 0;
  failing_ = true;
  if (oldest_ends_ != never) retry_later(now);
}

void LoginPlan::retry_later(Now now) noexcept {
  pause_ = std::clamp(2 * pause_, first_pause, longest_pause);
  renew_at_ = std::min(renew_at_, later(now.mono, pause_));
}

// The most important reason wins. A request already under way may be answered with a login that was
// right only when it began.
void LoginPlan::want(CredentialNeed need) noexcept {
  wanted_ = wanted_ ? std::max(*wanted_, need) : need;
}

std::optional<CredentialNeed> LoginPlan::take_asking() noexcept {
  if (asked_ || !wanted_) return std::nullopt;
  asked_ = std::exchange(wanted_, std::nullopt);
  return asked_;
}

Deadline LoginPlan::next() const noexcept {
  return std::min(oldest_ends_, asked_ ? never : renew_at_);
}

}  // namespace sheaf::client::runtime
