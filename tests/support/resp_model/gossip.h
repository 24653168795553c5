#pragma once

// Gossip: what the nodes of a model cluster have announced and others have not yet received. At
// most one message is in transit between two nodes. Later announcements follow when that message
// has arrived, so a change reaches every node after at most twice the delay.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <optional>
#include <utility>

#include "base/random.h"
#include "tests/support/resp_model/cluster_view.h"

namespace sheaf::test::resp_model {

// Drawn for each message.
struct GossipDelay {
  std::chrono::nanoseconds least = std::chrono::milliseconds(1);
  std::chrono::nanoseconds most = std::chrono::milliseconds(1);
};

class Gossip {
 public:
  struct Message {
    NodeNumber from = 0;
    NodeNumber to = 0;
    Announcement said;
    bool stale = false;  // the sender has changed since
  };

  explicit Gossip(std::uint64_t seed) : random_(seed) {}

  // True if a message is already in transit: another will follow it.
  bool put_off(NodeNumber from, NodeNumber to);
  // No message may be in transit.
  void send(NodeNumber from, NodeNumber to, const Announcement& said, const GossipDelay& delay,
            Deadline now);
  Deadline next() const;
  // The next message that has arrived.
  std::optional<Message> take(Deadline now);

 private:
  struct Pending {
    Deadline due{0};
    Announcement said;
    bool stale = false;
  };

  Random random_;
  std::map<std::pair<NodeNumber, NodeNumber>, Pending> pending_;
};

}  // namespace sheaf::test::resp_model
