#pragma once

// Gossip: what the nodes of a model cluster have said about themselves and others have not heard
// yet. There is at most one message on the way between two nodes. What a node says meanwhile
// follows when that one has arrived, so a change is heard everywhere after at most twice the delay.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <map>
#include <optional>
#include <utility>

#include "base/random.h"
#include "tests/support/resp_model/cluster_view.h"

namespace sheaf::test::resp_model {

// Drawn anew for each message.
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

  // True if a message is on the way already: another will follow it.
  bool put_off(NodeNumber from, NodeNumber to);
  // None is on the way.
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
