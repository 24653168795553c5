// Pure: no socket, clock, entropy, thread or callback.

#include "store/rights/accounts.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::store::rights {

bool RateLimiter::take(std::uint64_t rate, Deadline now) noexcept {
  constexpr Deadline second = std::chrono::seconds(1);
  if (rate == unlimited) return true;
  const Deadline step = second / static_cast<std::int64_t>(rate);
  const Deadline due = std::max(next_, now);
  if (due - now > second - step) return false;
  next_ = due + step;
  return true;
}

Account Accounts::join(std::string_view name) {
  const Account account = number_of(name);
  if (account != nobody) ++accounts_[account].clients;
  return account;
}

std::string_view Accounts::name_of(Account account) const {
  if (account == nobody) return {};
  return *accounts_[account].name;
}

Account Accounts::number_of(std::string_view name) {
  if (name.empty()) return nobody;
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  if (free_.empty()) {
    accounts_.emplace_back();
    free_.reserve(accounts_.capacity());  // forget() must not fail
    free_.push_back(static_cast<Account>(accounts_.size() - 1));
  }
  const Account account = free_.back();
  const auto made = numbers_.emplace(std::string(name), account).first;
  free_.pop_back();
  accounts_[account] = {&made->first, 0, {}};
  return account;
}

void Accounts::leave(Account account) noexcept {
  if (account == nobody) return;
  SHEAF_CHECK(accounts_[account].clients > 0);
  --accounts_[account].clients;
}

bool Accounts::take_request(Account account, const Quota& quota, Deadline now) noexcept {
  return account == nobody || accounts_[account].rate.take(quota.requests, now);
}

void Accounts::forget_idle(const Engine& engine, Deadline now) {
  constexpr std::size_t at_once = 100;
  for (std::size_t i = std::min(at_once, accounts_.size()); i > 0; --i) {
    looked_ = (looked_ + 1) % accounts_.size();
    Known& known = accounts_[looked_];
    if (known.name == nullptr || known.clients > 0 || !known.rate.rested(now)) continue;
    if (engine.usage(static_cast<Account>(looked_)) == Usage{}) forget(known);
  }
}

void Accounts::forget(Known& known) noexcept {
  numbers_.erase(numbers_.find(*known.name));
  free_.push_back(static_cast<Account>(&known - accounts_.data()));
  known = {};
}

}  // namespace sheaf::store::rights
