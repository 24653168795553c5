#pragma once

// How long to wait before the next attempt to connect. It uses full jitter (a random part of a
// growing span), so that clients that are cut off together do not return together. The span shrinks
// again only after a connection has been stable, because a short-lived connection proves nothing.
//
// Pure: no socket, clock, entropy, thread or callback.
// Thread rule: belongs to one lane.

#include "base/clock.h"
#include "base/random.h"

namespace sheaf::node {

struct BackoffOptions {
  std::chrono::nanoseconds first = std::chrono::milliseconds(50);  // span of the first wait
  std::chrono::nanoseconds limit = std::chrono::seconds(5);        // the span never exceeds it
  std::chrono::nanoseconds stable = std::chrono::seconds(10);  // a connection that lived this long
};

class Backoff {
 public:
  explicit Backoff(const BackoffOptions& options = {}) noexcept : options_(options) {}

  // A connection is ready: its handshake is done, and it is not merely connected.
  void on_ready(Now now) noexcept;
  // An attempt failed, or the connection ended. Returns when to try again.
  Deadline on_failed(Now now, Random& random) noexcept;
  // Forgets past failures, because something else (a recovery probe) has shown that the node
  // answers.
  void reset() noexcept;

  // The next wait is a random time from zero to this.
  std::chrono::nanoseconds span() const noexcept { return span_; }

 private:
  BackoffOptions options_;
  std::chrono::nanoseconds span_ = options_.first;
  Deadline ready_since_ = never;  // never: no connection is ready
};

}  // namespace sheaf::node
