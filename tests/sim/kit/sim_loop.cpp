#include "tests/sim/kit/sim_loop.h"

#include <algorithm>

#include "base/checks.h"
#include "tests/sim/kit/sim_threads.h"

namespace sheaf::sim {

namespace {

// The values of UvLoop and its direct reads.
constexpr std::chrono::microseconds spin_budget{50};
constexpr std::chrono::milliseconds longest_read{20};

}  // namespace

// A timer of the heap that reports the loop's next due time to the world.
class SimLoop::LoopTimer final : public socket::Timer {
 public:
  LoopTimer(SimLoop& loop, std::unique_ptr<socket::Timer> timer)
      : loop_(loop), timer_(std::move(timer)) {}
  ~LoopTimer() override {
    timer_.reset();
    loop_.schedule();
  }
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  void set(Deadline deadline) override {
    timer_->set(deadline);
    loop_.schedule();
  }
  void cancel() override {
    timer_->cancel();
    loop_.schedule();
  }

 private:
  SimLoop& loop_;
  std::unique_ptr<socket::Timer> timer_;
};

SimLoop::SimLoop(SimWorld& world, bool spins)
    : world_(world),
      number_(world.next_loop_++),
      spins_(spins),
      yielding_(spins),
      now_(read_clocks()) {}

SimLoop::~SimLoop() { world_.due_.erase({scheduled_, number_, this}); }

// The end of a turn does this itself.
void SimLoop::schedule() {
  if (driver_ != nullptr) return;
  const Deadline next = this->next();
  if (next == scheduled_) return;
  world_.due_.erase({scheduled_, number_, this});
  scheduled_ = next;
  if (next != never) world_.due_.insert({next, number_, this});
}

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

Deadline SimLoop::next_arrival() const {
  const Deadline due = woken_ ? world_.time_ : inbox_.next();
  return due == never ? never : std::max(due, stopped_until_);
}

void SimLoop::turn(Deadline until) {
  check_driver();
  driver_ = &this_thread();
  now_ = read_clocks();
  take_posted();
  run_deferred();
  // A turn that does not wait is not late.
  const Deadline expected = std::min(std::max(until, now_.mono), timers_.earliest());
  if (SimThreads* const threads = SimThreads::current()) {
    wait(*threads, expected);
  } else {
    let_the_world_go_on(expected);
  }
  do_not_wait_ = false;
  now_ = read_clocks();
  lateness_ = std::max(now_.mono - expected, std::chrono::nanoseconds(0));
  Agenda::Work work;
  const std::uint64_t mark = inbox_.mark();
  while (inbox_.take(now_.mono, mark, work)) work(now_);
  timers_.fire(now_);
  take_posted();
  run_deferred();
  driver_ = nullptr;
  schedule();
}

void SimLoop::let_the_world_go_on(Deadline until) {
  while (!woken_) {
    const Deadline target = std::min(until, inbox_.next());
    const bool for_ever = target == never && world_.next() == never;
    if (world_.time_ >= target || for_ever) break;
    world_.step(target);
  }
  woken_ = false;
  if (pause_.count() > 0) {
    world_.advance(world_.time_ + pause_);
    pause_ = std::chrono::nanoseconds(0);
  }
}

// The steps of UvLoop::wait(): polls, spins, reads for a while, or sleeps.
void SimLoop::wait(SimThreads& threads, Deadline until) {
  const Deadline now = now_.mono;
  if (until <= now || do_not_wait_ || spin(threads, until) ||
      (hook_ != nullptr && !hook_->may_sleep())) {
    threads.point();
  } else if (wait_by_ == socket::Wait::read && until - now >= 2 * longest_read) {
    // A wake-up is not noticed here; the next turn then does not wait.
    threads.wait("its connection to be readable",
                 [&, end = now + longest_read] { return std::min(end, inbox_.next()); });
    if (inbox_.next() <= world_.time_) return;
  } else {
    threads.wait("its loop", [&] { return woken_ ? Deadline{0} : std::min(until, inbox_.next()); });
  }
  woken_ = false;
}

// True if something happened or there is work before the budget was used up.
bool SimLoop::spin(SimThreads& threads, Deadline until) {
  if (!spins_ || wait_by_ != socket::Wait::spin) return false;
  const auto happened = [&] {
    return woken_ || inbox_.next() <= world_.time_ || (hook_ != nullptr && hook_->has_work());
  };
  const Deadline end = std::min(until, now_.mono + spin_budget);
  threads.wait("what it polls for",
               [&] { return happened() ? Deadline{0} : std::min(end, inbox_.next()); });
  return happened();
}

// Among simulated threads a loop belongs to the thread that drives it.
void SimLoop::check_driver() const noexcept {
  SimThreads* const threads = SimThreads::current();
  if (threads == nullptr || driver_ == nullptr || driver_ == &this_thread()) {
    return;
  }
  threads->fail("uses a loop that another thread drives");
}

void SimLoop::wake() noexcept {
  woken_ = true;
  schedule();
  if (SimThreads* const threads = SimThreads::current()) threads->point();
}

Now SimLoop::refresh() noexcept {
  check_driver();
  return now_ = read_clocks();
}

void SimLoop::post(socket::Deferred& work) noexcept {
  if (std::ranges::find(posted_, &work) == posted_.end()) posted_.push_back(&work);
  wake();
}

void SimLoop::cancel(socket::Deferred& work) noexcept {
  std::erase(posted_, &work);
  forget(work);
}

void SimLoop::take_posted() {
  for (socket::Deferred* work : std::exchange(posted_, {})) defer(*work);
}

std::unique_ptr<socket::Timer> SimLoop::timer(socket::TimerSink& sink) {
  check_driver();
  return std::make_unique<LoopTimer>(*this, timers_.make(sink));
}

void SimLoop::defer(socket::Deferred& work) {
  check_driver();
  if (std::ranges::find(deferred_, &work) == deferred_.end()) deferred_.push_back(&work);
  schedule();
}

void SimLoop::forget(socket::Deferred& work) noexcept {
  check_driver();
  std::ranges::replace(deferred_, &work, static_cast<socket::Deferred*>(nullptr));
  schedule();
}

void SimLoop::run_deferred() {
  for (std::size_t i = 0; i < deferred_.size(); ++i) {
    SHEAF_CHECK(i < 1'000'000);  // work that defers itself forever
    socket::Deferred* work = std::exchange(deferred_[i], nullptr);
    if (work != nullptr) work->run_deferred(now_);
  }
  deferred_.clear();
}

}  // namespace sheaf::sim
