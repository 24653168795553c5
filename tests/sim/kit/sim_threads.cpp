#include "tests/sim/kit/sim_threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <semaphore>

#include "base/checks.h"
#include "tests/support/sanitized.h"

#ifdef SHEAF_TEST_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace sheaf::sim {
namespace {

thread_local SimThreads* this_run = nullptr;

constexpr std::uint64_t delay_every = 64;  // points, in runs that delay threads

// While it lives, this thread and those that it starts run on one processor: to hand over to a
// thread on another one takes ten times as long.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
};

Deadline when(bool holds) { return holds ? Deadline{0} : never; }

#ifdef SHEAF_TEST_ASAN
// What the stack of a thread that waits for ever refers to is no leak. LeakSanitizer looks at the
// stacks of threads by itself, but may miss a thread whose number an ended thread had before: the
// system gives a number again after 32,768 threads. `frame`: of the function that waits; null: the
// thread has not had its turn.
void keep_what_is_on_the_stack(pthread_t thread, const char* frame) {
  pthread_attr_t attributes;
  SHEAF_CHECK(pthread_getattr_np(thread, &attributes) == 0);
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const char* const end = static_cast<const char*>(lowest) + size;
  const char* const begin = frame == nullptr ? end - 16'384 : frame - 4096;  // with its callees
  __lsan_register_root_region(begin, static_cast<std::size_t>(end - begin));
}
#else
void keep_what_is_on_the_stack(pthread_t, const char*) {}
#endif

}  // namespace

struct SimThreads::Thread {
  Thread(unsigned its_number, std::string its_name)
      : number(its_number), name(std::move(its_name)) {}
  const unsigned number;
  const std::string name;
  std::binary_semaphore turn{0};
  std::thread::id id;
  std::string_view waits_for;
  const Due* due = nullptr;  // null: it can run
  bool ended = false;
  pthread_t handle{};
  const char* frame = nullptr;  // of the function in which it waits for its turn
};

// A thread in a condition variable.
struct SimThreads::Sleeper {
  const void* condition;
  bool notified = false;
};

// How the thread outside learns that the run is over.
struct SimThreads::End {
  std::binary_semaphore reached{0};
};

SimThreads::SimThreads(SimWorld& world, std::uint64_t seed, const Limits& limits,
                       std::function<void()> main)
    : world_(world),
      random_(seed ^ 0x7468'7265'6164),
      limits_(limits),
      end_(world.now().mono + limits.time),
      main_(std::move(main)),
      patience_(std::uint64_t{1} << (1 + random_.below(4))),
      longest_delay_(random_.below(2) == 0 ? 0 : 1 << (12 + random_.below(13))),
      over_(std::make_shared<End>()) {}

SimThreads* SimThreads::current() noexcept { return this_run; }

std::string SimThreads::run(SimWorld& world, std::uint64_t seed, std::function<void()> main,
                            const Limits& limits) {
  SHEAF_CHECK(this_run == nullptr);
  const Shared self(new SimThreads(world, seed, limits, std::move(main)));
  self->self_ = self;
  const std::shared_ptr<End> over = self->over_;
  const OneProcessor one_processor;
  std::thread first = self->launch("main", [run = self.get()] { run->main_(); });
  self->hand_over(self->threads_.front().get());
  over->reached.acquire();
  if (self->finding_.empty()) {
    first.join();
  } else {
    first.detach();
    for (const auto& thread : self->threads_) {
      if (!thread->ended) keep_what_is_on_the_stack(thread->handle, thread->frame);
    }
  }
  return self->finding_;
}

std::thread SimThreads::launch(const std::string& name, std::function<void()> main) {
  const auto number = static_cast<unsigned>(threads_.size());
  Thread& thread = *threads_.emplace_back(std::make_unique<Thread>(number, name));
  std::thread started([self = self_.lock(), &thread, main = std::move(main)]() mutable {
    run_thread(self, thread, std::move(main));
  });
  thread.id = started.get_id();
  thread.handle = started.native_handle();
  return started;
}

void SimThreads::run_thread(const Shared& self, Thread& thread, std::function<void()> main) {
  this_run = self.get();
  thread.turn.acquire();
  main();
  main = nullptr;  // what it held is destroyed while this thread has its turn
  thread.ended = true;
  Thread* const next = self->choose();
  this_run = nullptr;
  self->hand_over(next);
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

void SimThreads::wait_until(std::string_view what, const std::function<bool()>& done) {
  wait(what, [&] { return when(done()); });
}

void SimThreads::pass(std::chrono::nanoseconds time) {
  const Deadline until = world_.now().mono + time;
  wait("time to pass", [until] { return until; });
}

// A machine has other things to do: a thread that could run does not, while time passes.
void SimThreads::maybe_delay() {
  if (longest_delay_.count() == 0 || random_.below(delay_every) != 0) return;
  const auto most = static_cast<std::uint64_t>(longest_delay_.count());
  const std::chrono::nanoseconds delay(random_.below(most));
  delays_ += delay;
  pass(delay);
}

void SimThreads::make_way() {
  Thread* const self = running_;
  self->frame = static_cast<const char*>(__builtin_frame_address(0));
  Thread* const next = choose();
  if (next == self) return;
  hand_over(next);
  self->turn.acquire();
}

// Who runs next; null if nobody is left, or if the run has failed.
SimThreads::Thread* SimThreads::choose() {
  if (std::ranges::all_of(threads_, [](const auto& thread) { return thread->ended; })) {
    finish({});
    return nullptr;
  }
  for (;;) {
    if (++points_ > limits_.points) {
      finish("no end after " + std::to_string(limits_.points) + " points\n" + report());
      return nullptr;
    }
    if (Thread* const next = choose_runnable()) return next;
    Deadline next = world_.next();
    for (const auto& thread : threads_) {
      if (!thread->ended) next = std::min(next, (*thread->due)());
    }
    if (next == never || next > end_) {
      finish((next == never ? "all threads wait for ever\n" : "no end in the time given\n") +
             report());
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
    return !thread.ended && (thread.due == nullptr || (*thread.due)() <= now);
  };
  if (runnable(*running_) && random_.below(patience_) != 0) return running_;
  Thread* chosen = nullptr;
  std::uint64_t seen = 0;
  for (const auto& thread : threads_) {
    if (runnable(*thread) && random_.below(++seen) == 0) chosen = thread.get();
  }
  return chosen;
}

// The caller then waits for its turn, or ends.
void SimThreads::hand_over(Thread* next) {
  if (next == nullptr) return;
  running_ = next;
  world_.note(2'000'000 + next->number);
  next->turn.release();
}

// ---- the end

// The thread outside may destroy this object as soon as it goes on.
void SimThreads::finish(std::string text) {
  finding_ = std::move(text);
  const std::shared_ptr<End> over = over_;
  over->reached.release();
}

void SimThreads::fail(const std::string& text) {
  Thread* const self = running_;
  self->frame = static_cast<const char*>(__builtin_frame_address(0));
  finish("in " + self->name + ": " + text + "\n" + report());
  for (;;) self->turn.acquire();  // nobody gives it a turn again
}

std::string SimThreads::report() const {
  std::string text = "at " + std::to_string(world_.now().mono.count() / 1000) + " us\n";
  for (const auto& thread : threads_) {
    if (thread->ended) continue;
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
  wait("a mutex", [&] { return when(!held(mutex)); });
  held_.emplace_back(mutex, running_);
}

void SimThreads::unlock(const void* mutex) {
  if (std::erase(held_, Held(mutex, running_)) != 1) fail("unlocks a mutex that it does not hold");
  point();
}

bool SimThreads::begin_callback(const void* callback) {
  if (limits_.bugs.lost_stop && random_.below(4) == 0) return false;
  callbacks_.emplace_back(callback, running_);
  return true;
}

void SimThreads::end_callback(const void* callback) {
  std::erase(callbacks_, Held(callback, running_));
}

void SimThreads::wait_for_callback(const void* callback) {
  maybe_delay();
  wait("a callback of a stop token", [this, callback, self = running_] {
    return when(std::ranges::none_of(callbacks_, [&](const Held& running) {
      return running.first == callback && running.second != self;
    }));
  });
}

bool SimThreads::wait_for_notification(const void* condition, const void* mutex, Deadline until) {
  Sleeper sleeper{condition};
  sleepers_.push_back(&sleeper);
  if (std::erase(held_, Held(mutex, running_)) != 1) fail("waits with a mutex it does not hold");
  const bool spurious = random_.below(16) == 0;  // the real ones may do that
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
  if (limits_.bugs.lost_notification && random_.below(4) == 0) waiting.clear();
  if (!all && !waiting.empty()) {
    waiting[random_.below(waiting.size())]->notified = true;
  } else {
    for (Sleeper* sleeper : waiting) sleeper->notified = true;
  }
  point();
}

std::thread SimThreads::start(std::string name, std::function<void()> main) {
  std::thread started = launch(name, std::move(main));
  point();
  return started;
}

// The system gives the number of a thread that has ended to another one: the youngest counts.
void SimThreads::wait_for_end(std::thread::id id) {
  wait_until("the end of a thread", [&] {
    const auto found = std::ranges::find(threads_.rbegin(), threads_.rend(), id,
                                         [](auto& thread) { return thread->id; });
    return found == threads_.rend() || (*found)->ended;
  });
}

}  // namespace sheaf::sim
