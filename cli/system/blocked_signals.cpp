#include "cli/system/blocked_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace sheaf::cli {

namespace {

bool is_ignored(int number) {
  struct sigaction now{};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

BlockedSignals::BlockedSignals(std::initializer_list<int> always,
                               std::span<const int> unless_ignored) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : always) sigaddset(&wanted, number);
  for (const int number : unless_ignored) {
    if (!is_ignored(number)) sigaddset(&wanted, number);
  }
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = Descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

BlockedSignals::~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

BlockedSignals::Signal BlockedSignals::take() const {
  signalfd_siginfo info{};
  if (read(descriptor_.get(), &info, sizeof info) != sizeof info) return {};
  return {static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

}  // namespace sheaf::cli
