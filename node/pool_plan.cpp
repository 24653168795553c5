#include "node/pool_plan.h"

#include <algorithm>

namespace sheaf::node {
namespace {

constexpr std::size_t no_socket = static_cast<std::size_t>(-1);

// False if the pool needs another one in its place.
bool is_live(const SocketFacts& socket) noexcept {
  return !socket.retired && socket.silent_since == never;
}

bool is_idle(const SocketFacts& socket) noexcept {
  return socket.ready && is_live(socket) && socket.in_flight == 0 && socket.leases == 0;
}

// Ends stuck sockets and returns how many remain.
unsigned end_stuck(std::span<const SocketFacts> sockets, const PoolBounds& bounds, Now now,
                   PoolPlan& plan) {
  unsigned live = 0;
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (sockets[i].silent_since != never && sockets[i].leases == 0) {
      const Deadline due = sockets[i].silent_since + bounds.silence;
      if (due <= now.mono) plan.verdicts[i] = Verdict::end_silent;
      if (due > now.mono) plan.next = std::min(plan.next, due);
      continue;
    }
    const Deadline since = sockets[i].busy_since;
    if (since != never && now.mono - since >= bounds.busy_timeout) {
      plan.verdicts[i] = Verdict::end_busy;
      continue;
    }
    if (is_live(sockets[i])) ++live;
    if (since != never) plan.next = std::min(plan.next, since + bounds.busy_timeout);
  }
  return live;
}

// Closes idle sockets beyond the lower bound and returns how many.
unsigned close_idle(std::span<const SocketFacts> sockets, const PoolBounds& bounds, Now now,
                    PoolPlan& plan) {
  unsigned ready = 0;
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (!is_live(sockets[i])) continue;
    if (sockets[i].ready && plan.verdicts[i] == Verdict::keep) ++ready;
  }
  unsigned closed = 0;
  while (ready - closed > bounds.min) {
    std::size_t oldest = no_socket;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (plan.verdicts[i] != Verdict::keep || !is_idle(sockets[i])) continue;
      if (oldest == no_socket || sockets[i].idle_since < sockets[oldest].idle_since) oldest = i;
    }
    if (oldest == no_socket) break;
    const Deadline due = sockets[oldest].idle_since + bounds.idle_timeout;
    if (due > now.mono) {
      plan.next = std::min(plan.next, due);
      break;
    }
    plan.verdicts[oldest] = Verdict::close_idle;
    ++closed;
  }
  return closed;
}

// Closes what is connecting beyond the upper bound, the youngest first, and returns how many.
unsigned close_surplus(std::span<const SocketFacts> sockets, unsigned live,
                       const PoolBounds& bounds, PoolPlan& plan) {
  unsigned closed = 0;
  for (std::size_t i = sockets.size(); i > 0 && live - closed > bounds.max; --i) {
    if (sockets[i - 1].ready || !is_live(sockets[i - 1])) continue;
    plan.verdicts[i - 1] = Verdict::close_idle;
    ++closed;
  }
  return closed;
}

bool can_serve(const SocketFacts& socket) noexcept {
  return is_live(socket) && (!socket.ready || socket.room > 0);
}

}  // namespace

void plan_pool(std::span<const SocketFacts> sockets, const PoolBounds& bounds, std::size_t waiting,
               Now now, PoolPlan& plan) {
  plan.verdicts.assign(sockets.size(), Verdict::keep);
  plan.create = 0;
  plan.next = never;
  unsigned live = end_stuck(sockets, bounds, now, plan);
  live -= close_idle(sockets, bounds, now, plan);
  live -= close_surplus(sockets, live, bounds, plan);

  bool help_at_hand = false;  // a kept socket has room, or will have once it is connected
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (plan.verdicts[i] == Verdict::keep && can_serve(sockets[i])) help_at_hand = true;
  }
  if (live < bounds.min) {
    plan.create = bounds.min - live;
  } else if (waiting > 0 && !help_at_hand && live < bounds.max) {
    plan.create = 1;
  }
}

}  // namespace sheaf::node
