#include "node/health.h"

#include <algorithm>
#include <utility>

namespace sheaf::node {

NodeHealth Health::state() const noexcept {
  switch (state_) {
    case State::connecting:
      return NodeHealth::connecting;
    case State::up:
      return NodeHealth::up;
    case State::recovering:
      return NodeHealth::recovering;
    case State::held:
    case State::down:
    case State::confirming:
      break;
  }
  return NodeHealth::down;
}

void Health::enter(State state, Now now) noexcept {
  state_ = state;
  since_ = now.mono;
  timeouts_ = 0;
  silent_since_ = never;
}

void Health::on_ready(Now now) noexcept {
  if (!usable()) return;
  last_answer_ = now.mono;
  if (state_ == State::connecting) enter(State::up, now);
}

void Health::on_answer(Now now) noexcept {
  if (!usable()) return;
  last_answer_ = now.mono;
  timeouts_ = 0;
  silent_since_ = never;
  if (state_ == State::connecting) enter(State::up, now);
}

void Health::on_timeout(Deadline sent, Deadline last_received, bool late, Now now) noexcept {
  if (!usable() || late || last_received >= sent) return;
  if (last_received >= silent_since_) {
    timeouts_ = 0;
    silent_since_ = never;
  }
  silent_since_ = std::min(silent_since_, sent);
  if (now.mono - silent_since_ < options.silence) return;
  if (++timeouts_ >= options.timeouts) go_down(false, now);
}

void Health::on_connect_failed(Deadline started, bool permanent, Now now) noexcept {
  if (!usable() || last_answer_ >= started) return;
  go_down(permanent, now);
}

void Health::go_down(bool permanent, Now now) noexcept {
  const bool flapped = returned_ != never && now.mono - returned_ < options.stable;
  needed_ = flapped ? std::min(needed_ + 1, options.most_answers) : options.answers;
  enter(State::down, now);
  ++downs_;
  answers_ = 0;
  probing_ = asks_again_ = false;
  drop_ = true;
  connect_ = false;
  plan_probe(now.mono, permanent ? options.refused_interval : options.first_probe);
}

void Health::on_taken_over(std::chrono::nanoseconds pause, Now now) noexcept {
  if (!usable()) return;
  go_down(false, now);
  state_ = State::held;
  next_probe_ = now.mono + pause;
}

void Health::come_back(Now now) noexcept {
  next_probe_ = never;
  connect_ = true;
  returned_ = now.mono;
  enter(State::recovering, now);
}

void Health::plan_probe(Deadline from, std::chrono::nanoseconds interval) noexcept {
  const double share = random_.draw([](Random& random) { return random.between(0.5, 1.0); });
  const double part = share * static_cast<double>(interval.count());
  next_probe_ = from + std::chrono::nanoseconds(static_cast<std::int64_t>(part));
}

void Health::on_new_login(Now now) noexcept {
  if (usable() || state_ == State::held) return;
  asks_again_ = probing_;
  if (!probing_) next_probe_ = std::min(next_probe_, now.mono);
}

void Health::on_probe_result(bool good, bool permanent, Now now) noexcept {
  if (!probing_) return;
  probing_ = false;
  const bool again = std::exchange(asks_again_, false);
  if (!good) {
    if (state_ == State::confirming) state_ = State::down;
    answers_ = 0;
    plan_probe(probe_started_, permanent ? options.refused_interval : options.probe_interval);
    if (again) next_probe_ = now.mono;
    return;
  }
  if (++answers_ < needed_) {
    state_ = State::confirming;
    next_probe_ = now.mono + options.confirm_interval;
    return;
  }
  come_back(now);
}

HealthAction Health::next_action(Now now) noexcept {
  if (drop_) {
    drop_ = false;
    return HealthAction::drop_pool;
  }
  if (state_ == State::held && now.mono >= next_probe_) come_back(now);
  if (connect_) {
    connect_ = false;
    return HealthAction::connect_pool;
  }
  switch (state_) {
    case State::connecting:
    case State::up:
    case State::held:
      break;
    case State::recovering:
      if (now.mono - since_ >= options.ramp) enter(State::up, now);
      break;
    case State::down:
    case State::confirming:
      if (probing_ || now.mono < next_probe_) break;
      probing_ = true;
      probe_started_ = now.mono;
      ++probes_;
      return HealthAction::start_probe;
  }
  return HealthAction::none;
}

Deadline Health::poll_deadline() const noexcept {
  if (drop_ || connect_) return since_;
  switch (state_) {
    case State::connecting:
    case State::up:
      break;
    case State::recovering:
      return since_ + options.ramp;
    case State::held:
      return next_probe_;
    case State::down:
    case State::confirming:
      return probing_ ? never : next_probe_;
  }
  return never;
}

}  // namespace sheaf::node
