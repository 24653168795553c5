#pragma once

// Answers take time, in tests whose clock stands still until the test moves it, too.
//
// An answer at the instant of its request hides every bug that takes one of the two moments for the
// other: a lease that is counted from the answer, a gap that begins when a read came back. So
// harnesses that play the other side by hand let `latency` pass between a request and its answer,
// unless the test has let time pass itself since the request.

#include <chrono>

#include "base/clock.h"

namespace sheaf::test {

// Below all that the product calls slow, and above all that it takes for nothing.
inline constexpr std::chrono::milliseconds latency{4};

class AnswerTime {
 public:
  void on_request(Deadline now) noexcept { requested_ = now; }
  // When the answer to the latest request comes, where the test's clock shows `now`.
  Deadline of_answer(Deadline now) const noexcept {
    return now > requested_ ? now : requested_ + latency;
  }

 private:
  Deadline requested_ = Deadline::min();  // nothing was requested
};

}  // namespace sheaf::test
