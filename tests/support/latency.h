#pragma once

// Makes answers take time, even in tests whose clock moves only when the test moves it.
//
// An answer at the instant of its request hides every bug that confuses the two moments: a lease
// that is counted from the answer, a gap that begins when a read came back. So harnesses that play
// the other side by hand let `latency` pass between a request and its answer, unless the test has
// let time pass since the request.

#include <chrono>

#include "base/clock.h"

namespace sheaf::test {

// Less than anything that the product calls slow, and more than anything that it ignores.
inline constexpr std::chrono::milliseconds latency{4};

class AnswerTime {
 public:
  void on_request(Deadline now) noexcept { requested_ = now; }
  // When the answer to the latest request comes if the test's clock shows `now`.
  Deadline of_answer(Deadline now) const noexcept {
    return now > requested_ ? now : requested_ + latency;
  }

 private:
  Deadline requested_ = Deadline::min();  // no request yet
};

}  // namespace sheaf::test
