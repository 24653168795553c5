#include "cli/system/signals.h"

#include <poll.h>

#include <array>

namespace sheaf::cli {

namespace {

constexpr std::array ends = {SIGINT, SIGHUP};

}  // namespace

Signals::Signals() : blocked_({SIGTERM, SIGCHLD}, ends) {}

Signals::~Signals() {
  // Pending signals have been answered: the program is ending. Left in place, they would kill it as
  // soon as the mask is restored.
  while (wait(std::chrono::milliseconds(0)) != Event::none) {
  }
}

Signals::Event Signals::wait(std::chrono::milliseconds timeout) const {
  pollfd wanted{.fd = blocked_.descriptor(), .events = POLLIN, .revents = 0};
  if (poll(&wanted, 1, static_cast<int>(timeout.count())) != 1) return Event::none;
  const int number = blocked_.take().number;
  if (number == 0) return Event::none;
  return number == SIGCHLD ? Event::child : Event::end;
}

}  // namespace sheaf::cli
