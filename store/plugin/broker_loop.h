#pragma once

// The broker's own loop, as far as a plugin can see it: whether further packets wait to be read.
// mosquitto reads one packet of each connection in a turn, then ticks. A commit for each turn would
// be one for each request of a client that has many in flight.
//
// Thread rule: the broker's one thread.

namespace sheaf::store::plugin {

class BrokerLoop {
 public:
  // Whether the next turn begins without a wait. False where that cannot be seen.
  bool busy();

 private:
  int poll_descriptor_ = -1;  // the broker's epoll; an epoll can itself be polled
  bool sought_ = false;
};

}  // namespace sheaf::store::plugin
