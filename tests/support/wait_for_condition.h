#pragma once

// Waits for an action of another process that sends no notification, by asking repeatedly.

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sheaf::test {

// Repeats `holds` until it is true, at first every millisecond; throws std::runtime_error with
// `what` after 60 s.
inline void wait_for_condition(std::string_view what, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int pause = 1; !holds(); pause = std::min(2 * pause, 50)) {
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error("not within 60 s: " + std::string(what));
    }
    ::poll(nullptr, 0, pause);
  }
}

}  // namespace sheaf::test
