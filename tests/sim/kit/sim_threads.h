#pragma once

// SimThreads: threads that take turns in an order that a seed chooses.
//
// The simulated threads of a run are coroutines (coroutine.h) on the thread that calls run(). A
// thread may have to make way for another wherever it synchronises: at a mutex, a condition
// variable, a parker, a callback of a stop token, the start and the end of a thread, when it yields
// the processor, and when it waits in a loop or wakes one. The seed chooses which thread continues.
// Virtual time passes only while all threads wait. So one number replays a run, and a lost wake-up
// is found at once: all threads wait, and nothing is due.
//
// The library needs no interface for this. It synchronises through functions of base/ (mutex.cpp,
// parker.cpp, quiet_thread.cpp, this_thread.cpp, stop_callback.cpp, read_clocks.cpp, entropy.cpp),
// each in a file that holds nothing else. The test program defines the same functions
// (sim_primitives.cpp), so the linker leaves those files in the archive. On threads outside a run
// the functions do what the real ones do.
//
// An access to an atomic variable is not such a point: state shared only by atomics is not
// examined.
//
// Thread rule: run() from a thread outside all runs, one run at a time; the rest from simulated
// threads.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/this_thread.h"
#include "tests/sim/kit/coroutine.h"
#include "tests/sim/kit/fast_random.h"
#include "tests/sim/kit/planted_bugs.h"
#include "tests/sim/kit/sim_world.h"

namespace sheaf::sim {

class SimThreads {
 public:
  struct Thread;
  struct Limits {
    std::chrono::nanoseconds time = std::chrono::minutes(10);  // virtual, from the start
    std::uint64_t points = 1'000'000;
    PrimitiveBugs bugs{};
  };

  // Runs `main` as the first thread, and returns when it and all threads that it started have
  // ended. An empty text means success. Otherwise the text says what went wrong: all threads wait
  // and nothing is due, a limit was reached, or fail() was called. The threads of a failed run stay
  // where they are forever, and `main` is kept with them: it must own everything that they use, the
  // world included.
  static std::string run(SimWorld& world, std::uint64_t seed, std::function<void()> main,
                         const Limits& limits);
  static std::string run(SimWorld& world, std::uint64_t seed, std::function<void()> main) {
    return run(world, seed, std::move(main), Limits());
  }

  // The run to which the calling thread belongs; null outside a run.
  static SimThreads* current() noexcept;

  // Another thread may continue here.
  void point();
  // Says when a thread can continue: 0 or the past means now, `never` means not yet. It refers to a
  // function that outlives it.
  class Due {
   public:
    template <class F>
    Due(const F& function)
        : function_(&function),
          call_([](const void* called) -> Deadline { return (*static_cast<const F*>(called))(); }) {
    }
    Deadline operator()() const { return call_(function_); }

   private:
    const void* function_;
    Deadline (*call_)(const void*);
  };
  // Waits until the moment that `due` names, which is asked whenever a thread is chosen. `what` is
  // for the report of a run that hangs.
  void wait(std::string_view what, const Due& due);
  // Waits until `done` holds; pass() waits for a time.
  template <class Done>
  void wait_until(std::string_view what, const Done& done) {
    wait(what, [&] { return done() ? Deadline{0} : never; });
  }
  void pass(std::chrono::nanoseconds time);
  // Ends the run with this finding. The calling thread does not continue.
  [[noreturn]] void fail(const std::string& text);

  SimWorld& world() { return world_; }
  Random& random() { return random_; }  // for the library
  // Threads that could continue are delayed now and then in half of the runs: the longest possible
  // delay, and the sum of all delays so far.
  std::chrono::nanoseconds longest_delay() const { return longest_delay_; }
  std::chrono::nanoseconds delays() const { return delays_; }

  // Building blocks of the primitives, which identify objects by their addresses.
  void lock(const void* mutex);
  void unlock(const void* mutex);
  // A callback of a stop token runs on this thread. Returns false if it must not be called (a
  // planted bug).
  bool begin_callback(const void* callback);
  void end_callback(const void* callback);
  // Waits until no other thread runs it.
  void wait_for_callback(const void* callback);
  bool wait_for_notification(const void* condition, const void* mutex, Deadline until);
  void notify(const void* condition, bool all);
  Thread& start(std::string name, std::function<void()> main);
  void wait_for_end(const Thread& thread);
  // What the library keeps for the running thread.
  ThisThread& this_thread() noexcept;

  SimThreads(const SimThreads&) = delete;
  SimThreads& operator=(const SimThreads&) = delete;

 private:
  struct Sleeper;
  using Held = std::pair<const void*, const Thread*>;  // a mutex and its holder

  SimThreads(SimWorld& world, std::uint64_t seed, const Limits& limits, std::function<void()> main);
  Thread& launch(std::string name, std::function<void()> main);
  Coroutine& run_thread(Thread& thread);
  void maybe_delay();
  void make_way();
  Thread* choose();
  Thread* choose_runnable();
  Coroutine& give_turn(Thread* next);
  void abandon();
  bool held(const void* mutex) const;
  std::string report() const;

  SimWorld& world_;
  Random random_;
  FastRandom choices_;
  const Limits limits_;
  const Deadline end_;
  const std::function<void()> main_;
  const std::uint64_t patience_;  // a thread makes way at one point in this many
  const std::chrono::nanoseconds longest_delay_;
  std::chrono::nanoseconds delays_{0};
  std::uint64_t points_ = 0;
  bool world_goes_on_ = false;  // the work of the world is running
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> living_;  // threads that have not ended, in the order in which they began
  Thread* running_ = nullptr;
  std::vector<Held> held_;
  std::vector<Held> callbacks_;     // callbacks of stop tokens that are running
  std::vector<Sleeper*> sleepers_;  // threads that wait on condition variables
  std::string finding_;
  Coroutine outside_;  // the thread that called run()
};

}  // namespace sheaf::sim
