#include "extras/leader/election_state.h"

#include <algorithm>
#include <utility>

#include <sheaf/async.h>

#include "base/local_error.h"
#include "extras/leader/campaign_plan.h"

namespace sheaf {
inline namespace v0 {

LeaderElection::State::State(Client& client, std::string name, LockerOptions options)
    : client_(&client),
      client_lives_(client),
      async_(client.async()),
      name_(std::move(name)),
      locker_(client, std::move(options)),
      watches_(client.supports(Feature::watch)) {}

Result<Client*> LeaderElection::State::client() const {
  if (!client_lives_.closed()) return client_;
  return Failure(local_error(Outcome::shutdown, Reason::closed, "the client was closed"));
}

// ---- the campaign

std::optional<Result<bool>> LeaderElection::State::enter(std::stop_source& campaign) {
  const sync::MutexLock lock(mutex_);
  if (term_ != nullptr && term_->held()) return true;
  if (campaign_) {
    return Failure(local_error(Outcome::invalid, Reason::bad_argument,
                               "another campaign of this election is in progress"));
  }
  campaign_ = campaign;
  return std::nullopt;
}

void LeaderElection::State::leave(const std::stop_source& campaign) {
  if (campaign_ == campaign) campaign_.reset();
}

Result<bool> LeaderElection::State::elected(LockGuard guard, const std::stop_source& campaign) {
  const auto term = std::make_shared<LockGuard>(std::move(guard));
  const FencingToken token = term->token();
  std::shared_ptr<const ElectedCallback> callback;
  bool given_up = false;
  {
    const sync::MutexLock lock(mutex_);
    leave(campaign);
    given_up = campaign.stop_requested();
    if (!given_up) {
      term_ = term;
      callback = on_elected_;
    }
  }
  if (given_up) {
    term->async().release().then([](const Result<bool>&) {});  // no one waits for its answer
    return Failure(local_error(Outcome::unknown, Reason::cancelled, {}));
  }
  if (callback != nullptr) (*callback)(token);
  // A loss that came meanwhile is reported now, after the election.
  term->on_loss([weak = weak_from_this()](const Error& why) {
    if (const auto self = weak.lock()) self->lost(why);
  });
  return true;
}

Result<bool> LeaderElection::State::not_elected(LockResult asked,
                                                const std::stop_source& campaign) {
  const sync::MutexLock lock(mutex_);
  leave(campaign);
  if (asked.busy()) return false;
  return Failure(std::move(asked).error());
}

std::shared_ptr<LockGuard> LeaderElection::State::withdraw() {
  std::optional<std::stop_source> campaign;
  std::shared_ptr<LockGuard> term;
  {
    const sync::MutexLock lock(mutex_);
    campaign = std::exchange(campaign_, std::nullopt);
    term = term_;
  }
  if (campaign) campaign->request_stop();
  return term;
}

void LeaderElection::State::lost(const Error& why) {
  std::shared_ptr<const LostCallback> callback;
  {
    const sync::MutexLock lock(mutex_);
    callback = on_lost_;
  }
  if (callback != nullptr) (*callback)(why);
}

std::shared_ptr<LockGuard> LeaderElection::State::term() const {
  const sync::MutexLock lock(mutex_);
  return term_;
}

bool LeaderElection::State::leading() const noexcept {
  if (process_.forked()) return false;  // and the mutex may be held for ever
  const auto now = term();
  return now != nullptr && now->held();
}

void LeaderElection::State::on_elected(ElectedCallback elected) {
  auto callback = std::make_shared<const ElectedCallback>(std::move(elected));
  if (!*callback) callback.reset();
  const sync::MutexLock lock(mutex_);
  on_elected_.swap(callback);
}

void LeaderElection::State::on_lost(LostCallback lost) {
  auto callback = std::make_shared<const LostCallback>(std::move(lost));
  if (!*callback) callback.reset();
  const sync::MutexLock lock(mutex_);
  on_lost_.swap(callback);
}

// ---- who leads

Result<std::shared_ptr<Watch>> LeaderElection::State::watch() {
  if (!watches_) return std::shared_ptr<Watch>();
  {
    const sync::MutexLock lock(mutex_);
    if (watch_ != nullptr) return watch_;
  }
  const auto here = client();
  if (!here) return Failure(here.error());
  auto opened = (*here)->watch(name_);
  if (!opened) return Failure(std::move(opened.error()));
  const auto watch = std::make_shared<Watch>(std::move(*opened));
  const sync::MutexLock lock(mutex_);
  if (watch_ == nullptr) watch_ = watch;  // else another call was faster
  return watch_;
}

std::chrono::nanoseconds LeaderElection::State::until_look(Deadline now) {
  const sync::MutexLock lock(mutex_);
  const Deadline look = std::max(next_look_, now);
  next_look_ = look + look_interval;
  return look - now;
}

std::optional<Leader> LeaderElection::State::see_value(const std::optional<std::string>& value) {
  const sync::MutexLock lock(mutex_);
  return view_.see(value);
}

LeaderElection::State::Seen LeaderElection::State::see(const Result<GetResult>& got) {
  if (got) return see_value(*got ? std::optional((*got)->data) : std::nullopt);
  if (leader::is_final(got.error())) return Failure(got.error());
  return std::optional<Leader>();
}

LeaderElection::State::Seen LeaderElection::State::see(const WatchEvent& event) {
  switch (event.kind) {
    case WatchEvent::Kind::current:
    case WatchEvent::Kind::set:
      return see_value(event.value);
    case WatchEvent::Kind::deleted:
      return see_value(std::nullopt);
    case WatchEvent::Kind::failed: {
      if (!leader::is_final(*event.error)) break;
      std::shared_ptr<Watch> ended;  // it does not try again; the next call may
      const sync::MutexLock lock(mutex_);
      ended.swap(watch_);
      return Failure(*event.error);
    }
    case WatchEvent::Kind::changed:
    case WatchEvent::Kind::gap:
      break;  // the content follows
  }
  return std::optional<Leader>();
}

void LeaderElection::State::close() {
  if (process_.forked()) return;
  closing_.request_stop();
  if (const auto held = withdraw()) static_cast<void>(held->release());
}

}  // namespace v0
}  // namespace sheaf
