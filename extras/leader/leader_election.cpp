// The blocking members of LeaderElection.

#include <algorithm>
#include <utility>

#include "base/parker.h"
#include "base/read_clocks.h"
#include "extras/leader/campaign_plan.h"
#include "extras/leader/election_state.h"
#include "extras/leader/stop_relay.h"

namespace sheaf {

using leader::CampaignPlan;
using leader::StopRelay;

namespace {

// Sleeps on the caller's stack, until the token is asked to stop.
class Nap final : private StopHandler {
 public:
  void sleep(std::chrono::nanoseconds time, const std::stop_token& stop) {
    const StopCallback wake(stop, handler());
    if (!stop.stop_requested()) static_cast<void>(parker_.park_for(time));
  }

 private:
  StopHandler& handler() noexcept { return *this; }
  void on_stop_requested() noexcept override { parker_.unpark(); }

  Parker parker_;
};

std::stop_token token_of(Stop stop) { return stop == nullptr ? std::stop_token() : *stop; }

}  // namespace

inline namespace v0 {

LeaderElection::LeaderElection(Client& client, std::string name, LockerOptions options)
    : state_(std::make_shared<State>(client, std::move(name), std::move(options))) {}

LeaderElection::~LeaderElection() { state_->close(); }

Result<bool> LeaderElection::campaign(const CampaignOptions& options) {
  std::stop_source ended;
  if (auto known = state_->enter(ended)) return std::move(*known);
  const StopRelay relay(token_of(options.stop), ended);
  const std::stop_token stop = ended.get_token();
  CampaignPlan plan(options.wait, read_monotonic());
  for (;;) {
    auto asked = state_->locker().lock(
        state_->name(),
        {.wait = plan.ask(read_monotonic()), .timeout = options.timeout, .stop = &stop});
    if (asked) return state_->elected(std::move(*asked), ended);
    const auto pause = plan.after(asked.failed() ? &asked.error() : nullptr, read_monotonic());
    if (!pause) return state_->not_elected(std::move(asked), ended);
    Nap().sleep(*pause, stop);
  }
}

Result<bool> LeaderElection::resign(const ReleaseOptions& options) {
  const auto term = state_->withdraw();
  return term == nullptr ? Result<bool>(false) : term->release(options);
}

bool LeaderElection::leading() const noexcept { return state_->leading(); }
std::shared_ptr<LockGuard> LeaderElection::term() const { return state_->term(); }
void LeaderElection::on_elected(ElectedCallback elected) { state_->on_elected(std::move(elected)); }
void LeaderElection::on_lost(LostCallback lost) { state_->on_lost(std::move(lost)); }

AsyncLeaderElection LeaderElection::async() const { return {state_, {}}; }

void LeaderElection::on_leader(LeaderCallback changed) {
  leader::report(state_, std::make_shared<const LeaderCallback>(std::move(changed)));
}

Result<Leader> LeaderElection::leader(const GetOptions& options) {
  const auto client = state_->client();
  if (!client) return Failure(client.error());
  return leader::leader_of((*client)->get(state_->name(), options));
}

Result<std::optional<Leader>> LeaderElection::next_leader(const NextOptions& options) {
  std::stop_source ended;
  const StopRelay told(token_of(options.stop), ended);
  const StopRelay closed(state_->closing(), ended);
  const std::stop_token stop = ended.get_token();
  leader::Until until(options.wait, read_monotonic());
  for (;;) {
    auto watch = state_->watch();
    if (!watch) return Failure(std::move(watch.error()));
    State::Seen seen;
    if (*watch != nullptr) {
      const auto event = (*watch)->next({.wait = until.left(read_monotonic()), .stop = &stop});
      if (!event) return Failure(event.error());
      if (!*event) return std::optional<Leader>();
      seen = state_->see(**event);
    } else {
      const Deadline now = read_monotonic();
      Nap().sleep(std::min(state_->until_look(now), until.left(now)), stop);
      const auto client = state_->client();
      if (!client) return Failure(client.error());
      seen = state_->see((*client)->get(state_->name(), {.stop = &stop}));
    }
    if (!seen || *seen || until.over(read_monotonic())) return seen;
  }
}

}  // namespace v0
}  // namespace sheaf
