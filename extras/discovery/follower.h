#pragma once

// Follower: looks at a source of servers at an interval, and passes on changes.
//
// Thread rule: any thread may call look_now(). Calls back on its own thread, which the destructor
// waits for.

#include <atomic>
#include <stop_token>

#include <sheaf/discovery.h>
#include <sheaf/move_only_function.h>

#include "base/parker.h"
#include "base/quiet_thread.h"
#include "extras/discovery/follow_plan.h"

namespace sheaf::discovery {

// What is not allowed, checked before anything starts.
std::optional<Error> check_follow(const ServerSource& source, const FollowOptions& options);

class Follower {
 public:
  // Receives changed servers, or why a look failed. Returns true if the servers were taken.
  using Hand = MoveOnlyFunction<bool(Result<std::vector<NodeConfig>>)>;

  // Both arguments must have been checked. May throw std::system_error.
  Follower(ServerSource source, const FollowOptions& options, Hand hand);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void look_now() noexcept { parker_.unpark(); }

 private:
  void run();
  void look();

  ServerSource source_;
  std::chrono::milliseconds interval_;
  DiscoveryOptions options_;
  Hand hand_;
  FollowPlan plan_;
  int process_;
  std::stop_source stop_;
  std::stop_token token_ = stop_.get_token();
  Parker parker_;
  QuietThread thread_;
};

}  // namespace sheaf::discovery
