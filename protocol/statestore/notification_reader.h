#pragma once

// NotificationReader: what a notification says about a watched key. The topic names the key, the
// payload what happened; see docs/wire/statestore.md.
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/mqtt5/packets.h"
#include "protocol/session.h"
#include "protocol/statestore/clock.h"

namespace sheaf::protocol::statestore {

class NotificationReader {
 public:
  // `clock` and `counters` outlive it.
  NotificationReader(std::uint64_t value_limit, HybridClock& clock, Counters& counters) noexcept
      : value_limit_(value_limit), clock_(clock), counters_(counters) {}

  // False if it is not about a key of `client_id`. Else the event is filled in: its key lives until
  // the next one, its other views as long as the packet's bytes. Without `whole` the payload was
  // too large to be held.
  bool read(const mqtt5::Publish& publish, bool whole, std::string_view client_id,
            std::chrono::milliseconds wall, Event& event);

 private:
  void read_payload(std::string_view payload, bool whole, protocol::Notification& change);
  void read_timestamp(std::string_view text, std::chrono::milliseconds wall,
                      protocol::Notification& change);

  std::uint64_t value_limit_;
  HybridClock& clock_;
  Counters& counters_;
  std::string key_;  // of the last notification
};

}  // namespace sheaf::protocol::statestore
