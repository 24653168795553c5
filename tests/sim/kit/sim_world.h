#pragma once

// Virtual time and everything that happens outside the clients: packets that arrive, servers that
// answer. Events are ordered by time, then by the order in which they were scheduled. All
// randomness comes from one seed, so the seed alone replays a run.
//
// Thread rule: one thread.

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/clock.h"
#include "tests/sim/kit/fast_random.h"

namespace sheaf::sim {

class SimLoop;

// Work ordered by time, then by the order in which it was scheduled.
class Agenda {
 public:
  using Work = std::function<void(Now)>;

  void add(Deadline at, Work work) { items_.emplace(std::pair(at, next_++), std::move(work)); }
  Deadline next() const { return items_.empty() ? never : items_.begin()->first.first; }
  bool empty() const { return items_.empty(); }
  // The number of the next item: items from here on were added later.
  std::uint64_t mark() const { return next_; }
  // Takes the first item if it is due and was added before `mark`.
  bool take(Deadline due, std::uint64_t mark, Work& work);

 private:
  std::map<std::pair<Deadline, std::uint64_t>, Work> items_;
  std::uint64_t next_ = 0;
};

class SimWorld {
 public:
  explicit SimWorld(std::uint64_t seed) : random_(seed) {}
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  Now now() const { return {time_, wall_base + wall_step_ + since_start()}; }
  FastRandom& random() { return random_; }
  // Steps the shared wall clock; the monotonic clock is not affected.
  void step_wall(std::chrono::milliseconds step) { wall_step_ += step; }

  // Runs work at a moment of virtual time, between the turns of clients.
  void at(Deadline time, Agenda::Work work) { agenda_.add(std::max(time, time_), std::move(work)); }
  void after(std::chrono::nanoseconds delay, Agenda::Work work) {
    at(time_ + delay, std::move(work));
  }
  // When the world itself next has something to do.
  Deadline next() const { return agenda_.next(); }

  // Advances the world (no loop) to the next moment at which it has work, at most to `until`.
  void step(Deadline until);
  void advance(Deadline until);

  // Runs the world and every loop, each exactly when it has something to do, until `done` holds or
  // virtual time reaches `until`. Returns true if `done` held.
  bool run(Deadline until, const std::function<bool()>& done);
  void run_for(std::chrono::nanoseconds time) {
    run(time_ + time, [] { return false; });
  }

  // A digest of what has happened. Two runs from one seed end with the same digest.
  std::uint64_t trace() const { return trace_; }
  void note(std::uint64_t what);

 private:
  friend class SimLoop;

  // A loop that has something to do.
  struct Due {
    Deadline at = never;
    std::uint64_t number = 0;  // of the loop; loops due at the same time run in this order
    SimLoop* loop = nullptr;
    friend auto operator<=>(const Due&, const Due&) = default;
  };

  static constexpr std::chrono::milliseconds wall_base{1'700'000'000'000};
  static constexpr Deadline start{std::chrono::seconds(1'000)};

  std::chrono::milliseconds since_start() const {
    return std::chrono::floor<std::chrono::milliseconds>(time_ - start);
  }

  SimLoop* next_due(std::uint64_t from, std::uint64_t end) const;

  FastRandom random_;
  Deadline time_ = start;
  std::chrono::milliseconds wall_step_{0};
  Agenda agenda_;
  std::set<Due> due_;
  std::uint64_t next_loop_ = 0;
  std::uint64_t trace_ = 0;
};

}  // namespace sheaf::sim
