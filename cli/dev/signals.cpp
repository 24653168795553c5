#include "cli/dev/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace sheaf::cli {

namespace {

bool is_ignored(int signal_number) {
  struct sigaction now{};
  return sigaction(signal_number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  sigaddset(&wanted, SIGCHLD);
  // Linux queues a blocked signal even when it is ignored, so an ignored one is not asked for.
  for (const int end : {SIGINT, SIGHUP}) {
    if (!is_ignored(end)) sigaddset(&wanted, end);
  }
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = Descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  // What is still pending has been answered: the program is ending. Left in place it would kill us
  // as soon as the mask is gone.
  while (wait(std::chrono::milliseconds(0)) != Event::none) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Signals::Event Signals::wait(std::chrono::milliseconds timeout) const {
  pollfd wanted{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
  if (poll(&wanted, 1, static_cast<int>(timeout.count())) != 1) return Event::none;
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return Event::none;
  return info.ssi_signo == SIGCHLD ? Event::child : Event::end;
}

}  // namespace sheaf::cli
