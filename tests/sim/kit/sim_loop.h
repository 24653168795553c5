#pragma once

// SimLoop: a client's loop in virtual time. A turn waits until this client has something to do,
// hands it everything that has arrived, fires timers, then runs deferred work: the order of the
// real loop. In a simulation of one thread the turn runs the world meanwhile. Among simulated
// threads (sim_threads.h) the caller waits as one of them, in each of the ways of the real loop,
// and a loop that two threads use at once is a finding.
//
// Thread rule: one thread, or that of a DrivenLoop among simulated threads; the world outlives it.

#include <memory>
#include <vector>

#include "base/this_thread.h"
#include "socket/seam.h"
#include "socket/timer_heap.h"
#include "tests/sim/kit/sim_world.h"

namespace sheaf::sim {

class SimThreads;

class SimLoop final : public socket::DrivenLoop {
 public:
  // `spins`: polls before it sleeps if asked to; among simulated threads only.
  explicit SimLoop(SimWorld& world, bool spins = false);
  ~SimLoop() override;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  Now now() const override { return now_; }
  void turn(Deadline until) override;
  void wake() noexcept override;
  std::unique_ptr<socket::Timer> timer(socket::TimerSink& sink) override;
  void defer(socket::Deferred& work) override;
  void forget(socket::Deferred& work) noexcept override;
  std::chrono::nanoseconds lateness() const override { return lateness_; }

  Now refresh() noexcept override;
  void do_not_wait() noexcept override { do_not_wait_ = true; }
  void wait_by(socket::Wait wait) noexcept override { wait_by_ = wait; }
  Yielding& yielding() noexcept override { return yielding_; }
  void set_idle_hook(socket::IdleHook* hook) noexcept override { hook_ = hook; }
  void post(socket::Deferred& work) noexcept override;
  void cancel(socket::Deferred& work) noexcept override;
  Deadline next_turn() const noexcept override {
    return next() > now_.mono ? timers_.earliest() : Deadline{0};
  }
  int descriptor() const noexcept override { return -1; }  // see sim_primitives.cpp
  void close_descriptors() noexcept override {}            // nothing forks here

  // Stops this client's process: the world advances by `time` before its next turn ends waiting.
  void pause(std::chrono::nanoseconds time) { pause_ += time; }
  // Stops it while other clients continue: it reads what arrives meanwhile when it resumes.
  void stop_for(std::chrono::nanoseconds time) {
    stopped_until_ = world_.now().mono + time;
    schedule();
  }
  // Makes this client's wall clock differ from the world's.
  void set_wall_offset(std::chrono::milliseconds offset) { wall_offset_ = offset; }

  // Delivers to this client in its reading phase.
  void deliver(Deadline at, Agenda::Work work) {
    inbox_.add(at, std::move(work));
    schedule();
  }
  // When this client next has something to do; now if work is deferred.
  Deadline next() const;
  // The same for what the kernel knows: without timers and deferred work.
  Deadline next_arrival() const;
  SimWorld& world() { return world_; }

 private:
  friend class SimWorld;
  class LoopTimer;

  void schedule();  // next() may have changed
  Now read_clocks() const;
  void let_the_world_go_on(Deadline until);
  void wait(SimThreads& threads, Deadline until);
  bool spin(SimThreads& threads, Deadline until);
  void check_driver() const noexcept;
  void run_deferred();
  void take_posted();

  SimWorld& world_;
  const std::uint64_t number_;  // in the order of construction
  Deadline scheduled_ = never;  // as the world knows it
  const bool spins_;
  Yielding yielding_;
  socket::IdleHook* hook_ = nullptr;
  socket::Wait wait_by_ = socket::Wait::sleep;
  bool do_not_wait_ = false;
  const ThisThread* driver_ = nullptr;  // the thread in turn(); null: no thread
  std::chrono::milliseconds wall_offset_{0};
  Now now_;
  std::chrono::nanoseconds lateness_{0};
  std::chrono::nanoseconds pause_{0};
  Deadline stopped_until_{0};
  bool woken_ = false;
  Agenda inbox_;
  socket::TimerHeap timers_;
  std::vector<socket::Deferred*> deferred_;
  std::vector<socket::Deferred*> posted_;
};

}  // namespace sheaf::sim
