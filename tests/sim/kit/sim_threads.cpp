#include "tests/sim/kit/sim_threads.h"

#include <algorithm>

#include "base/checks.h"

namespace sheaf::sim {
namespace {

thread_local SimThreads* this_run = nullptr;

constexpr std::uint64_t delay_every = 64;  // points, in runs that delay threads

}  // namespace

struct SimThreads::Thread {
  const unsigned number;
  const std::string name;
  std::function<void()> main;
  Coroutine* coroutine = nullptr;
  ThisThread state{};
  std::string_view waits_for{};
  const Due* due = nullptr;  // null: it can run
  bool ended = false;
};

// A thread that waits on a condition variable.
struct SimThreads::Sleeper {
  const void* condition;
  bool notified = false;
};

SimThreads::SimThreads(SimWorld& world, std::uint64_t seed, const Limits& limits,
                       std::function<void()> main)
    : world_(world),
      random_(seed ^ 0x7468'7265'6164),
      choices_(random_.u64()),
      limits_(limits),
      end_(world.now().mono + limits.time),
      main_(std::move(main)),
      patience_(std::uint64_t{1} << (1 + choices_.below(4))),
      longest_delay_(choices_.below(2) == 0 ? 0 : 1 << (12 + choices_.below(13))) {}

SimThreads* SimThreads::current() noexcept { return this_run; }

std::string SimThreads::run(SimWorld& world, std::uint64_t seed, std::function<void()> main,
                            const Limits& limits) {
  SHEAF_CHECK(this_run == nullptr);
  auto* const self = new SimThreads(world, seed, limits, std::move(main));
  std::unique_ptr<SimThreads> owner(self);
  this_run = self;
  Thread& first = self->launch("main", [self] { self->main_(); });
  self->outside_.switch_to(self->give_turn(&first));
  this_run = nullptr;
  if (self->finding_.empty()) return {};
  owner.release()->abandon();
  return self->finding_;
}

// Its threads cannot be ended, because functions that must not throw are on their stacks.
// Everything that they use is kept with them.
void SimThreads::abandon() {
  static auto* const abandoned = new std::vector<std::unique_ptr<SimThreads>>;
  abandoned->emplace_back(this);
  for (const Thread* const thread : living_) thread->coroutine->abandon();
}

SimThreads::Thread& SimThreads::launch(std::string name, std::function<void()> main) {
  const auto number = static_cast<unsigned>(threads_.size());
  Thread& thread = *threads_.emplace_back(new Thread{number, std::move(name), std::move(main)});
  thread.coroutine =
      &Coroutine::make([this, &thread]() -> Coroutine& { return run_thread(thread); });
  living_.push_back(&thread);
  return thread;
}

Coroutine& SimThreads::run_thread(Thread& thread) {
  thread.main();
  thread.main = nullptr;  // destroys what it held while this thread has its turn
  thread.ended = true;
  std::erase(living_, &thread);
  return give_turn(choose());
}

// ---- choosing

void SimThreads::point() {
  if (world_goes_on_) return;
  maybe_delay();
  make_way();
}

void SimThreads::wait(std::string_view what, const Due& due) {
  SHEAF_CHECK(!world_goes_on_);
  Thread* const self = running_;
  self->waits_for = what;
  self->due = &due;
  make_way();
  self->due = nullptr;
}

void SimThreads::pass(std::chrono::nanoseconds time) {
  const Deadline until = world_.now().mono + time;
  wait("time to pass", [until] { return until; });
}

// Models a busy machine: a thread that could run does not run while time passes.
void SimThreads::maybe_delay() {
  if (longest_delay_.count() == 0 || choices_.below(delay_every) != 0) return;
  const auto most = static_cast<std::uint64_t>(longest_delay_.count());
  const std::chrono::nanoseconds delay(choices_.below(most));
  delays_ += delay;
  pass(delay);
}

void SimThreads::make_way() {
  Thread* const self = running_;
  Thread* const next = choose();
  if (next != self) self->coroutine->switch_to(give_turn(next));
}

// Returns the next thread to run; null if none is left or the run has failed.
SimThreads::Thread* SimThreads::choose() {
  if (living_.empty()) return nullptr;
  for (;;) {
    if (++points_ > limits_.points) {
      finding_ = "no end after " + std::to_string(limits_.points) + " points\n" + report();
      return nullptr;
    }
    if (Thread* const next = choose_runnable()) return next;
    Deadline next = world_.next();
    for (const Thread* const thread : living_) next = std::min(next, (*thread->due)());
    if (next == never || next > end_) {
      finding_ = next == never ? "all threads wait for ever\n" : "no end in the time given\n";
      finding_ += report();
      return nullptr;
    }
    world_goes_on_ = true;
    world_.step(next);
    world_goes_on_ = false;
  }
}

SimThreads::Thread* SimThreads::choose_runnable() {
  const Deadline now = world_.now().mono;
  const auto runnable = [now](const Thread& thread) {
    return thread.due == nullptr || (*thread.due)() <= now;
  };
  if (!running_->ended && runnable(*running_) && choices_.below(patience_) != 0) return running_;
  Thread* chosen = nullptr;
  std::uint64_t seen = 0;
  for (Thread* const thread : living_) {
    if (runnable(*thread) && choices_.below(++seen) == 0) chosen = thread;
  }
  return chosen;
}

// Null: the run is over.
Coroutine& SimThreads::give_turn(Thread* next) {
  if (next == nullptr) return outside_;
  running_ = next;
  world_.note(2'000'000 + next->number);
  return *next->coroutine;
}

// ---- the end

void SimThreads::fail(const std::string& text) {
  Thread* const self = running_;
  finding_ = "in " + self->name + ": " + text + "\n" + report();
  if (self->ended) living_.push_back(self);  // work of the world still uses its stack
  self->coroutine->switch_to(outside_);
  std::abort();  // it never gets a turn again
}

std::string SimThreads::report() const {
  std::string text = "at " + std::to_string(world_.now().mono.count() / 1000) + " us\n";
  for (const Thread* const thread : living_) {
    text += "  " + std::to_string(thread->number) + " " + thread->name + " ";
    text += thread->due == nullptr ? "can run" : "waits for " + std::string(thread->waits_for);
    text += "\n";
  }
  return text;
}

// ---- what the primitives are made of

bool SimThreads::held(const void* mutex) const {
  return std::ranges::find(held_, mutex, &Held::first) != held_.end();
}

void SimThreads::lock(const void* mutex) {
  maybe_delay();
  if (std::ranges::find(held_, Held(mutex, running_)) != held_.end()) {
    fail("locks a mutex that it holds");
  }
  wait_until("a mutex", [&] { return !held(mutex); });
  held_.emplace_back(mutex, running_);
}

void SimThreads::unlock(const void* mutex) {
  if (std::erase(held_, Held(mutex, running_)) != 1) fail("unlocks a mutex that it does not hold");
  point();
}

bool SimThreads::begin_callback(const void* callback) {
  if (limits_.bugs.lost_stop && choices_.below(4) == 0) return false;
  callbacks_.emplace_back(callback, running_);
  return true;
}

void SimThreads::end_callback(const void* callback) {
  std::erase(callbacks_, Held(callback, running_));
}

void SimThreads::wait_for_callback(const void* callback) {
  maybe_delay();
  wait_until("a callback of a stop token", [this, callback, self = running_] {
    return std::ranges::none_of(callbacks_, [&](const Held& running) {
      return running.first == callback && running.second != self;
    });
  });
}

bool SimThreads::wait_for_notification(const void* condition, const void* mutex, Deadline until) {
  Sleeper sleeper{condition};
  sleepers_.push_back(&sleeper);
  if (std::erase(held_, Held(mutex, running_)) != 1) fail("waits with a mutex it does not hold");
  const bool spurious = choices_.below(16) == 0;  // real condition variables may do that
  wait("a notification", [&] { return sleeper.notified || spurious ? Deadline{0} : until; });
  std::erase(sleepers_, &sleeper);
  lock(mutex);
  return sleeper.notified || spurious;
}

void SimThreads::notify(const void* condition, bool all) {
  std::vector<Sleeper*> waiting;
  for (Sleeper* sleeper : sleepers_) {
    if (sleeper->condition == condition && !sleeper->notified) waiting.push_back(sleeper);
  }
  if (limits_.bugs.lost_notification && choices_.below(4) == 0) waiting.clear();
  if (!all && !waiting.empty()) {
    waiting[choices_.below(waiting.size())]->notified = true;
  } else {
    for (Sleeper* sleeper : waiting) sleeper->notified = true;
  }
  point();
}

SimThreads::Thread& SimThreads::start(std::string name, std::function<void()> main) {
  Thread& started = launch(std::move(name), std::move(main));
  point();
  return started;
}

void SimThreads::wait_for_end(const Thread& thread) {
  wait_until("the end of a thread", [&] { return thread.ended; });
}

ThisThread& SimThreads::this_thread() noexcept { return running_->state; }

}  // namespace sheaf::sim
