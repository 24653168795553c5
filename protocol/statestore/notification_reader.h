#pragma once

// NotificationReader: reads what a notification says about a watched key. The topic names the key,
// the payload says what happened; see docs/wire/statestore.md.
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
  // `clock` and `counters` outlive this object.
  NotificationReader(std::uint64_t value_limit, HybridClock& clock, Counters& counters) noexcept
      : value_limit_(value_limit), clock_(clock), counters_(counters) {}

  // Returns false if the notification is not about a key of `client_id`. Else it fills in the
  // event: its key is valid until the next call, its other views as long as the packet's bytes.
  // `whole` is false if the payload was too large to buffer.
  bool read(const mqtt5::Publish& publish, bool whole, std::string_view client_id,
            std::chrono::milliseconds wall, Event& event);

 private:
  void read_payload(std::string_view payload, bool whole, protocol::Notification& change);
  void read_timestamp(std::string_view text, std::chrono::milliseconds wall,
                      protocol::Notification& change);

  std::uint64_t value_limit_;
  HybridClock& clock_;
  Counters& counters_;
  std::string key_;  // the last notification's key
};

}  // namespace sheaf::protocol::statestore
