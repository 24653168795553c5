#pragma once

// HealthHistory: the latest changes of a node's health, as a clause that explains why a request
// failed: "is down since 1.20 s (Connection refused), before that up for 35 s".
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <string_view>
#include <vector>

#include <sheaf/stats.h>

#include "base/clock.h"

namespace sheaf::node {

class HealthHistory {
 public:
  // The node's health has changed; `text` is the cause, empty if unknown.
  void note(NodeHealth health, std::string_view text, Now now);
  // Valid until the next call. Made once per turn.
  std::string_view text(Now now);

 private:
  struct Change {
    NodeHealth health = NodeHealth::connecting;
    Deadline at{0};
    std::string text;
  };
  static constexpr std::size_t most = 3;

  std::vector<Change> changes_;  // the latest first
  std::string text_;             // for all requests that fail in one turn; empty: not made yet
  Deadline text_at_{0};
};

}  // namespace sheaf::node
