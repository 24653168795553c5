#include "tests/sim/kit/sim_loop.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::sim {

SimLoop::SimLoop(SimWorld& world) : world_(world), now_(read_clocks()) {
  world_.loops_.push_back(this);
}

SimLoop::~SimLoop() { std::erase(world_.loops_, this); }

Now SimLoop::read_clocks() const {
  Now now = world_.now();
  now.wall += wall_offset_;
  return now;
}

Deadline SimLoop::next() const {
  const bool work = woken_ || std::ranges::any_of(deferred_, [](auto* d) { return d != nullptr; });
  const Deadline due = work ? world_.time_ : std::min(inbox_.next(), timers_.earliest());
  return due == never ? never : std::max(due, stopped_until_);
}

void SimLoop::turn(Deadline until) {
  now_ = read_clocks();
  run_deferred();
  const Deadline expected = std::min(until, timers_.earliest());
  while (!woken_) {
    const Deadline target = std::min(expected, inbox_.next());
    const bool for_ever = target == never && world_.next() == never;
    if (world_.time_ >= target || for_ever) break;
    world_.step(target);
  }
  woken_ = false;
  if (pause_.count() > 0) {
    world_.advance(world_.time_ + pause_);
    pause_ = std::chrono::nanoseconds(0);
  }
  now_ = read_clocks();
  lateness_ = std::max(now_.mono - expected, std::chrono::nanoseconds(0));
  Agenda::Work work;
  const std::uint64_t mark = inbox_.mark();
  while (inbox_.take(now_.mono, mark, work)) work(now_);
  timers_.fire(now_);
  run_deferred();
}

std::unique_ptr<socket::Timer> SimLoop::timer(socket::TimerSink& sink) {
  return timers_.make(sink);
}

void SimLoop::defer(socket::Deferred& work) {
  if (std::ranges::find(deferred_, &work) == deferred_.end()) deferred_.push_back(&work);
}

void SimLoop::forget(socket::Deferred& work) noexcept {
  std::ranges::replace(deferred_, &work, static_cast<socket::Deferred*>(nullptr));
}

void SimLoop::run_deferred() {
  for (std::size_t i = 0; i < deferred_.size(); ++i) {
    SHEAF_CHECK(i < 1'000'000);  // work that defers itself for ever
    socket::Deferred* work = std::exchange(deferred_[i], nullptr);
    if (work != nullptr) work->run_deferred(now_);
  }
  deferred_.clear();
}

}  // namespace sheaf::sim
