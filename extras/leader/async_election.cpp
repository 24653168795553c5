// The asynchronous members: chains of the asynchronous calls of the lock, the watch and the client.
// Each ends with one of these, so the user's code runs where theirs would.

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/local_error.h"
#include "base/read_clocks.h"
#include "extras/leader/campaign_plan.h"
#include "extras/leader/election_state.h"
#include "extras/leader/stop_relay.h"

namespace sheaf {
namespace {

using call_detail::Access;
using call_detail::Hears;
using call_detail::Prepared;
using leader::CampaignPlan;
using leader::StopRelay;
using State = LeaderElection::State;

// A call of an election. `Self` owns itself from its start to its end.
template <class Out>
class Chain : public Prepared<Out> {
 public:
  using Done = typename Prepared<Out>::Done;
  using Self = std::unique_ptr<Chain>;

  Chain(std::shared_ptr<State> state, Stop stop) : state_(std::move(state)) {
    if (stop != nullptr) this->token = *stop;
  }

  void begin(Done done, Hears) override {
    done_ = std::move(done);
    start(Self(this));
  }

 protected:
  virtual void start(Self self) = 0;
  virtual void resume(Self self) = 0;

  State& state() const { return *state_; }
  void end(Out out) { done_(std::move(out)); }
  // For an outcome that was known at the start. The read of no key is refused at once, and that is
  // delivered where callbacks run.
  void end_later(Self self, Out out) {
    state_->async().get({}).then([self = std::move(self), out = std::move(out)](
                                     const auto&) mutable { self->end(std::move(out)); });
  }
  // Calls resume() later. What resumes asks once more before it ends, also when it was stopped.
  void pause(std::chrono::nanoseconds time, const std::stop_token& stop, Self self) {
    if (time <= std::chrono::nanoseconds(0)) {
      Chain& it = *self;
      return it.resume(std::move(self));
    }
    const auto shared = std::make_shared<Self>(std::move(self));
    try {
      state_->pauses().after(time, stop, [shared] {
        Chain& it = **shared;
        it.resume(std::move(*shared));
      });
    } catch (const std::system_error& error) {
      Chain& it = **shared;
      it.end_later(std::move(*shared), Failure(no_thread(error)));
    }
  }

 private:
  const std::shared_ptr<State> state_;
  Done done_;
};

class Campaign final : public Chain<Result<bool>> {
 public:
  Campaign(std::shared_ptr<State> state, const CampaignOptions& options)
      : Chain(std::move(state), options.stop), wait_(options.wait), timeout_(options.timeout) {}

 private:
  void start(Self self) override {
    if (auto known = state().enter(ended_)) return end_later(std::move(self), std::move(*known));
    relay_.emplace(token, ended_);
    plan_.emplace(wait_, read_monotonic());
    resume(std::move(self));
  }
  void resume(Self self) override {
    const std::stop_token stop = ended_.get_token();
    state()
        .locker()
        .async()
        .lock(state().name(),
              {.wait = plan_->ask(read_monotonic()), .timeout = timeout_, .stop = &stop})
        .then([this, self = std::move(self)](LockResult asked) mutable {
          on_asked(std::move(self), std::move(asked));
        });
  }
  void on_asked(Self self, LockResult asked) {
    if (asked) return end(state().elected(std::move(*asked), ended_));
    const auto pause_for =
        plan_->after(asked.failed() ? &asked.error() : nullptr, read_monotonic());
    if (!pause_for) return end(state().not_elected(std::move(asked), ended_));
    pause(*pause_for, ended_.get_token(), std::move(self));
  }

  const Wait wait_;
  const Timeout timeout_;
  std::stop_source ended_;
  std::optional<StopRelay> relay_;
  std::optional<CampaignPlan> plan_;
};

class Resignation final : public Chain<Result<bool>> {
 public:
  Resignation(std::shared_ptr<State> state, const ReleaseOptions& options)
      : Chain(std::move(state), options.stop), timeout_(options.timeout) {}

 private:
  void start(Self self) override {
    const auto term = state().withdraw();
    if (term == nullptr) return end_later(std::move(self), false);
    term->async()
        .release({.timeout = timeout_, .stop = &token})
        .then([this, self = std::move(self), term](Result<bool> released) {
          end(std::move(released));
        });
  }
  void resume(Self) override {}

  const Timeout timeout_;
};

class NextLeader final : public Chain<Result<std::optional<Leader>>> {
 public:
  NextLeader(std::shared_ptr<State> state, const NextOptions& options)
      : Chain(std::move(state), options.stop), wait_(options.wait) {}

 private:
  void start(Self self) override {
    told_.emplace(token, ended_);
    closed_.emplace(state().closing(), ended_);
    until_.emplace(wait_, read_monotonic());
    look(std::move(self));
  }
  void look(Self self) {
    auto watch = state().watch();
    if (!watch) return end_later(std::move(self), Failure(std::move(watch.error())));
    const Deadline now = read_monotonic();
    if (*watch == nullptr) {
      const auto time = std::min(state().until_look(now), until_->left(now));
      return pause(time, ended_.get_token(), std::move(self));
    }
    const std::stop_token stop = ended_.get_token();
    (*watch)
        ->async()
        .next({.wait = until_->left(now), .stop = &stop})
        .then(
            [this, self = std::move(self)](const Result<std::optional<WatchEvent>>& event) mutable {
              if (!event) return end(Failure(event.error()));
              if (!*event) return end(std::optional<Leader>());
              on_seen(std::move(self), state().see(**event));
            });
  }
  void resume(Self self) override {
    const std::stop_token stop = ended_.get_token();
    state()
        .async()
        .get(state().name(), {.stop = &stop})
        .then([this, self = std::move(self)](const Result<GetResult>& got) mutable {
          on_seen(std::move(self), state().see(got));
        });
  }
  void on_seen(Self self, State::Seen seen) {
    if (!seen || *seen || until_->over(read_monotonic())) return end(std::move(seen));
    look(std::move(self));
  }

  const Wait wait_;
  std::stop_source ended_;
  std::optional<StopRelay> told_;
  std::optional<StopRelay> closed_;
  std::optional<leader::Until> until_;
};

}  // namespace

namespace leader {

void report(const std::shared_ptr<State>& state,
            const std::shared_ptr<const LeaderElection::LeaderCallback>& changed) {
  Access::make<State::Seen>(std::make_unique<NextLeader>(state, NextOptions()), {})
      .then([state, changed](const State::Seen& seen) {
        if (seen && *seen) (*changed)(**seen);
        if (seen) return report(state, changed);
        if (seen.error().reason != Reason::cancelled) (*changed)(Failure(seen.error()));
      });
}

}  // namespace leader

inline namespace v0 {

Call<Result<bool>> AsyncLeaderElection::campaign(const CampaignOptions& options) const {
  return Access::make<Result<bool>>(std::make_unique<Campaign>(state_, options), hook_);
}

Call<Result<bool>> AsyncLeaderElection::resign(const ReleaseOptions& options) const {
  return Access::make<Result<bool>>(std::make_unique<Resignation>(state_, options), hook_);
}

Call<Result<Leader>> AsyncLeaderElection::leader(const GetOptions& options) const {
  return state_->async()
      .resume_by(hook_)
      .get(state_->name(), options)
      .transform([](const Result<GetResult>& got) { return leader::leader_of(got); });
}

Call<Result<std::optional<Leader>>> AsyncLeaderElection::next_leader(
    const NextOptions& options) const {
  return Access::make<State::Seen>(std::make_unique<NextLeader>(state_, options), hook_);
}

}  // namespace v0
}  // namespace sheaf
