#pragma once

// Redirected: what a cluster keeps of a request that a server has sent elsewhere. See redirects.h.
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
  RedirectStep step;  // the next one, or the one under way
  std::string from;   // identity of the server that answered last
  std::string text;   // what it said
  // With what it ends if it has waited in vain for an owner of its slot.
  std::optional<Reason> cause;
};

}  // namespace sheaf::cluster
