#pragma once

// The broker's own loop, as far as a plugin can see it: if further packets wait to be read, and
// when the next tick comes.
//
// In one turn Mosquitto reads one packet from each connection. A commit in each turn would
// therefore be a commit for each request of a client that has many in flight.
//
// Thread rule: the broker's one thread.

#include "store/plugin/broker_api.h"

namespace sheaf::store::plugin {

// Called in each tick. 2.0, and 2.1 if built with websockets as in Debian, ticks in every turn, and
// turns at least every 100 ms. Other builds of 2.1 skip the ticks before `now + next`, and wake up
// for the next tick only in a turn that has ticked: with only a waiting time, a broker that gets a
// packet between two ticks and then nothing would not tick again. The event contains the time that
// it counts from. Set to the past it skips no tick, so each turn asks to be woken in 100 ms. 2.0
// ignores both values.
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
  // True if packets wait in the kernel. False if that cannot be seen.
  bool busy();

 private:
  int poll_descriptor_ = -1;  // the broker's epoll, which can be polled itself
  bool sought_ = false;
};

}  // namespace sheaf::store::plugin
