#pragma once

// Signals to wait for, instead of handlers that interrupt.
//
// Thread rule: made and used by the main thread while it is the only one; threads made later
// inherit the mask and so leave these signals to it.

#include <chrono>
#include <csignal>

#include "cli/system/blocked_signals.h"

namespace sheaf::cli {

// During its lifetime, SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked, and wait() returns them.
// SIGINT and SIGHUP stay ignored if the caller had ignored them (nohup, a shell's background job).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  enum class Event { none, child, end };
  // The next event; none after `timeout`. A negative timeout waits forever.
  Event wait(std::chrono::milliseconds timeout) const;
  // The previous mask.
  const sigset_t& before() const noexcept { return blocked_.before(); }

 private:
  BlockedSignals blocked_;
};

}  // namespace sheaf::cli
