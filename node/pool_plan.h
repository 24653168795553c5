#pragma once

// Decides what to do with the sockets of a node's pool: which have been idle too long, which are
// stuck, and how many to open. It is a function of the facts about each socket; ClientNode carries
// the plan out.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "node/health.h"

namespace sheaf::node {

struct SocketFacts {
  bool ready = false;           // false: still dialing or in its handshake
  Deadline idle_since{0};       // meaningful while nothing is in flight
  Deadline busy_since = never;  // when its oldest request was submitted; never: none
  unsigned in_flight = 0;
  unsigned leases = 0;
  std::size_t room = 0;  // requests that it takes now
  bool retired = false;  // takes no requests, and needs a replacement
  // Since when nothing has come of the late replies that it owes, which it waits for; never: it
  // owes none. Until they have come it takes no requests, and another may take its place.
  Deadline silent_since = never;
};

struct PoolBounds {
  unsigned min = 1;
  unsigned max = 1;
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(60);
  std::chrono::nanoseconds busy_timeout = std::chrono::seconds(30);
  std::chrono::nanoseconds silence = HealthOptions().silence;  // for late replies
};

enum class Verdict : std::uint8_t {
  keep,
  close_idle,  // orderly; also one that is connecting and is needed no more
  end_silent,  // at once; its late replies have not come
  end_busy     // at once; its requests fail and it is never used again
};

struct PoolPlan {
  std::vector<Verdict> verdicts;  // one for each socket, in the order given
  unsigned create = 0;            // sockets to open now, backoff permitting
  Deadline next = never;          // when the plan may change without an event
};

// `waiting`: requests that found no room. They open one more socket at a time, up to the upper
// bound, and none while another is connecting. `plan` is reused, so that planning does not
// allocate. Idle sockets beyond the lower bound are closed, the longest idle first; sockets that
// are still connecting do not count for that bound. Sockets that owe late replies count for no
// bound. If they come, what is connecting beyond the upper bound is closed.
void plan_pool(std::span<const SocketFacts> sockets, const PoolBounds& bounds, std::size_t waiting,
               Now now, PoolPlan& plan);

}  // namespace sheaf::node
