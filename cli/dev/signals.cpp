#include "cli/dev/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

namespace sheaf::cli {

namespace {

constexpr std::array ends = {SIGINT, SIGHUP};

}  // namespace

Signals::Signals() : blocked_({SIGTERM, SIGCHLD}, ends) {}

Signals::~Signals() {
  // What is still pending has been answered: the program is ending. Left in place it would kill us
  // as soon as the mask is gone.
  while (wait(std::chrono::milliseconds(0)) != Event::none) {
  }
  sigprocmask(SIG_SETMASK, &blocked_.before, nullptr);
}

Signals::Event Signals::wait(std::chrono::milliseconds timeout) const {
  pollfd wanted{.fd = blocked_.descriptor.get(), .events = POLLIN, .revents = 0};
  if (poll(&wanted, 1, static_cast<int>(timeout.count())) != 1) return Event::none;
  signalfd_siginfo info{};
  if (read(blocked_.descriptor.get(), &info, sizeof info) != sizeof info) return Event::none;
  return info.ssi_signo == SIGCHLD ? Event::child : Event::end;
}

}  // namespace sheaf::cli
