// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/notification_reader.h"

#include <utility>

#include "protocol/statestore/packets.h"
#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {

bool NotificationReader::read(const mqtt5::Publish& publish, bool whole, std::string_view client_id,
                              std::chrono::milliseconds wall, Event& event) {
  auto topic = parse_notification_topic(publish.topic);
  if (!topic || topic->client_id != client_id) return false;
  key_ = std::move(topic->key);
  event = Event{};
  event.kind = Event::Kind::notification;
  event.notification.key = key_;
  read_payload(publish.payload, whole, event.notification);
  if (const auto text = publish.properties.user().find(property::timestamp)) {
    read_timestamp(*text, wall, event.notification);
  }
  return true;
}

// Even a payload that cannot be read shows that the key has changed.
void NotificationReader::read_payload(std::string_view payload, bool whole,
                                      protocol::Notification& change) {
  using Kind = protocol::Notification::Kind;
  using Operation = statestore::Notification::Operation;
  if (!whole) {
    change.kind = Kind::set;
    return;
  }
  const auto update = statestore::Notification::parse(payload);
  if (!update || update->operation == Operation::unknown) {
    ++counters_.bad_notifications;
  } else if (update->operation == Operation::removed) {
    change.kind = Kind::deleted;
  } else {
    change.kind = Kind::set;
    if (update->value && update->value->size() <= value_limit_) change.value = update->value;
  }
}

// A timestamp that is unreadable or too far ahead costs the version, and does not move our clock.
void NotificationReader::read_timestamp(std::string_view text, std::chrono::milliseconds wall,
                                        protocol::Notification& change) {
  const auto timestamp = parse_timestamp(text);
  if (!timestamp || too_far_ahead(*timestamp, wall)) {
    ++counters_.bad_timestamps;
    return;
  }
  change.version = text;
  if (!clock_.observe(*timestamp, wall)) ++counters_.bad_timestamps;
}

}  // namespace sheaf::protocol::statestore
