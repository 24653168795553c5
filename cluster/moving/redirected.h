#pragma once

// Redirected: what a cluster keeps about a request that a server has redirected. See redirects.h.
//
// Thread rule: touched only under the lane's baton.

#include <optional>
#include <string>

#include "base/deadline_heap.h"
#include "cluster/moving/redirect_plan.h"

namespace sheaf::cluster {

class Request;

struct Redirected : DeadlineHook<Redirected> {
  explicit Redirected(Request& its_request) noexcept : request(its_request) {}

  Request& request;
  RedirectPlan plan;
  RedirectStep step;  // the next one, or the one in progress
  std::string from;   // identity of the server that answered last
  std::string text;   // that server's text
  // How it ends if it waits in vain for its slot to get an owner.
  std::optional<Reason> cause;
};

}  // namespace sheaf::cluster
