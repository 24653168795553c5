#pragma once

// SimLoop: a client's loop in virtual time. A turn lets the world go on until this client has
// something to do, hands it all that has arrived, then fires timers, then runs deferred work: the
// order of the real loop.
//
// Thread rule: one thread; the world outlives it.

#include <memory>
#include <vector>

#include "socket/seam.h"
#include "socket/timer_heap.h"
#include "tests/sim/kit/sim_world.h"

namespace sheaf::sim {

class SimLoop final : public socket::Loop {
 public:
  explicit SimLoop(SimWorld& world);
  ~SimLoop() override;
  SimLoop(const SimLoop&) = delete;
  SimLoop& operator=(const SimLoop&) = delete;

  Now now() const override { return now_; }
  void turn(Deadline until) override;
  void wake() noexcept override { woken_ = true; }
  std::unique_ptr<socket::Timer> timer(socket::TimerSink& sink) override;
  void defer(socket::Deferred& work) override;
  void forget(socket::Deferred& work) noexcept override;
  std::chrono::nanoseconds lateness() const override { return lateness_; }

  // This client's process is stopped: the world goes on for `time` before its next turn ends
  // waiting.
  void pause(std::chrono::nanoseconds time) { pause_ += time; }
  // The same, while other clients go on: what arrives meanwhile is read when it continues.
  void stop_for(std::chrono::nanoseconds time) { stopped_until_ = world_.now().mono + time; }
  // This client's wall clock differs from the world's.
  void set_wall_offset(std::chrono::milliseconds offset) { wall_offset_ = offset; }

  // Delivers to this client, in its reading phase.
  void deliver(Deadline at, Agenda::Work work) { inbox_.add(at, std::move(work)); }
  // When this client has something to do next; now if work is deferred.
  Deadline next() const;
  SimWorld& world() { return world_; }

 private:
  Now read_clocks() const;
  void run_deferred();

  SimWorld& world_;
  std::chrono::milliseconds wall_offset_{0};
  Now now_;
  std::chrono::nanoseconds lateness_{0};
  std::chrono::nanoseconds pause_{0};
  Deadline stopped_until_{0};
  bool woken_ = false;
  Agenda inbox_;
  socket::TimerHeap timers_;
  std::vector<socket::Deferred*> deferred_;
};

}  // namespace sheaf::sim
