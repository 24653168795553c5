#include "tests/sim/kit/sim_world.h"

#include <algorithm>

#include "base/hash.h"
#include "tests/sim/kit/sim_loop.h"

namespace sheaf::sim {

bool Agenda::take(Deadline due, std::uint64_t mark, Work& work) {
  if (items_.empty()) return false;
  const auto first = items_.begin();
  if (first->first.first > due || first->first.second >= mark) return false;
  work = std::move(first->second);
  items_.erase(first);
  return true;
}

void SimWorld::step(Deadline until) {
  const Deadline next = std::min(until, agenda_.next());
  if (next == never) return;
  time_ = std::max(time_, next);
  Agenda::Work work;
  while (agenda_.take(time_, agenda_.mark(), work)) work(now());
}

void SimWorld::advance(Deadline until) {
  while (time_ < until) step(until);
}

bool SimWorld::run(Deadline until, const std::function<bool()>& done) {
  while (!done()) {
    const Deadline first = due_.empty() ? never : due_.begin()->at;
    const Deadline next = std::min({until, agenda_.next(), first});
    if (next == never) return false;  // nothing will ever happen again
    const bool over = next >= until && until <= time_;
    if (over) return false;
    step(next);
    // A turn may end loops and begin others, which wait for the next round.
    const std::uint64_t end = next_loop_;
    SimLoop* loop = next_due(0, end);
    while (loop != nullptr) {
      const std::uint64_t after = loop->number_ + 1;
      loop->turn(time_);
      loop = next_due(after, end);
    }
  }
  return true;
}

SimLoop* SimWorld::next_due(std::uint64_t from, std::uint64_t end) const {
  const Due* found = nullptr;
  for (const Due& due : due_) {
    if (due.at > time_) break;
    const bool fits = due.number >= from && due.number < end;
    if (fits && (found == nullptr || due.number < found->number)) found = &due;
  }
  return found != nullptr ? found->loop : nullptr;
}

void SimWorld::note(std::uint64_t what) {
  const std::uint64_t parts[] = {trace_, static_cast<std::uint64_t>(time_.count()), what};
  trace_ = hash64({reinterpret_cast<const char*>(parts), sizeof parts});
}

}  // namespace sheaf::sim
