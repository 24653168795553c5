#pragma once

// The broker's own loop, as far as a plugin can see it: whether further packets wait to be read,
// and when the next tick comes.
//
// Mosquitto reads one packet of each connection in a turn. A commit for each turn would be one for
// each request of a client that has many in flight.
//
// Thread rule: the broker's one thread.

#include "store/plugin/broker_api.h"

namespace sheaf::store::plugin {

// Called in each tick. 2.0, and 2.1 built with websockets as in Debian, ticks in every turn and has
// one every 100 ms at least. Other builds of 2.1 skip the ticks before `now + next`, and wake for
// the next one only in a turn that has ticked: with a time to wait alone, a broker that gets a
// packet between two ticks and then nothing would not tick again. The time that it reckons from is
// in the event. Put into the past it skips no tick, so each turn asks to be woken in 100 ms. 2.0
// ignores both.
template <class Tick = mosquitto_evt_tick>
void ask_for_next_tick(Tick& event) {
  event.now_s = 0;
  event.now_ns = 0;
  constexpr long wait_ms = 100;
  if constexpr (requires { event.next_ms; }) {
    event.next_ms = wait_ms;
  } else {
    event.next_ns = wait_ms;  // the name that the headers of 2.0 have for the same member
  }
}

class BrokerLoop {
 public:
  // Whether packets wait in the kernel. False where that cannot be seen.
  bool busy();

 private:
  int poll_descriptor_ = -1;  // the broker's epoll, which can itself be polled
  bool sought_ = false;
};

}  // namespace sheaf::store::plugin
