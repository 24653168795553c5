#pragma once

// Yielding: whether threads that expect something soon should yield the processor meanwhile. It
// costs little as long as those that run instead soon sleep, as servers and other callers do. A
// thread that computes keeps the processor for milliseconds, which is much longer than a sleep and
// a wake-up take. So a yield that took that long is followed by a pause, in which no thread yields,
// and the next one by a longer pause. While other processes compete for the processors, a yield now
// and then finds out if they still do, and there are no others.
//
// Thread rule: any thread. Threads that report at once may lose each other's report.

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/contention.h"

namespace sheaf {

class Yielding {
 public:
  // One that takes longer than this let another thread compute.
  static constexpr std::chrono::nanoseconds too_long = Contention::too_long;
  // A pause is this many times as long as the yield that began it: the first, and the longest.
  static constexpr unsigned first_factor = 4;
  static constexpr unsigned last_factor = 16;

  // Not enabled: it never pays.
  explicit Yielding(bool enabled = true) noexcept : enabled_(enabled) {}

  bool pays(Deadline now) const noexcept {
    return enabled_ && now >= resume_at_.load(relaxed) &&
           (!contention_.found() || contention_.due(now));
  }
  // Lets other threads run. Returns false, without having done so, if it does not pay.
  bool yield() noexcept;
  // Lets other threads run, whether it pays or not. Returns the time after that.
  Deadline yield_at(Deadline now) noexcept;
  // True if other processes compete for the processors. Yields before, if it is time to find out.
  bool others_compete(Deadline now) noexcept;
  // What is known of them.
  Contention& contention() noexcept { return contention_; }

  // A thread yielded from `began` to `ended`.
  void yielded(Deadline began, Deadline ended) noexcept {
    const std::chrono::nanoseconds took = ended - began;
    if (took < too_long) return;
    // Only after a time without a pause that was as long as the last pause is the machine calm.
    const Deadline resumed = resume_at_.load(relaxed);
    const bool calm = began - resumed > pause_.load(relaxed);
    const unsigned factor = calm ? first_factor : std::min(2 * factor_.load(relaxed), last_factor);
    factor_.store(factor, relaxed);
    pause_.store(took * factor, relaxed);
    resume_at_.store(ended + took * factor, relaxed);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  const bool enabled_;
  Contention contention_;
  std::atomic<Deadline> resume_at_{Deadline{0}};
  std::atomic<std::chrono::nanoseconds> pause_{std::chrono::nanoseconds{0}};
  std::atomic<unsigned> factor_{first_factor};
};

}  // namespace sheaf
