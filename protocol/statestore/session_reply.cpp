// StoreSession: what a reply that belongs to a request says.
//
// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/session.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::uint64_t kLastWall = 253'402'300'799'999;  // the end of the year 9999

template <class Answer>
std::optional<Fault> fault_in(const Parsed<Answer>& answer) {
  if (answer) return std::nullopt;
  return answer.error();
}

}  // namespace

StoreSession::Step StoreSession::on_reply(PendingRequest& request, const mqtt5::Publish& publish,
                                          Event& event) {
  ReplyProperties properties;
  for (const mqtt5::UserProperty& user : publish.properties.user()) {
    properties.take(user.name, user.value);
  }
  std::optional<Fault> fault;
  Reply reply;
  if (const auto status = properties.check(); !status) {
    fault = status.error();
  } else {
    fault = read_answer(request, publish.payload, reply);
  }
  if (fault && fault->malformed()) {
    return broken(fault->text, mqtt5::ReasonCode::payload_format_invalid);
  }
  if (fault) {
    // Our clock was dragged ahead, by another store or by a wall clock that has been set back.
    if (fault->reason == Reason::clock_skew) clock_.reset();
    return refuse(request, fault->reason, fault->text, event);
  }
  if (reply.value.size() > options_.value_limit) {
    return refuse(request, Reason::too_large, "the value is above value_limit", event);
  }
  read_timestamp(request, properties, reply);
  return finish(request, reply, event);
}

// The payload, as the answer to what was asked.
std::optional<Fault> StoreSession::read_answer(const PendingRequest& request,
                                               std::string_view payload, Reply& reply) const {
  switch (request.question) {
    case Question::get: {
      const auto answer = GetReply::parse(payload);
      if (!answer) return answer.error();
      reply.status = answer->value ? Status::done : Status::absent;
      reply.value = answer->value.value_or(std::string_view{});
      return std::nullopt;
    }
    case Question::set: {
      const auto answer = SetReply::parse(payload);
      if (!answer) return answer.error();
      reply.status = answer->applied ? Status::done : Status::not_stored;
      return std::nullopt;
    }
    case Question::del: {
      const auto answer = DelReply::parse(payload);
      if (!answer) return answer.error();
      reply.status = answer->removed > 0 ? Status::done : Status::absent;
      return std::nullopt;
    }
    case Question::vdel: {
      const auto answer = VdelReply::parse(payload);
      if (!answer) return answer.error();
      reply.status = answer->result == VdelReply::Result::removed  ? Status::done
                     : answer->result == VdelReply::Result::absent ? Status::absent
                                                                   : Status::not_stored;
      return std::nullopt;
    }
    case Question::probe:
      return fault_in(GetReply::parse(payload));
    case Question::clock:
      return fault_in(SetReply::parse(payload));
    case Question::watch:
      return fault_in(KeyNotifyReply::parse(payload));  // `:0`: it was watched already
    case Question::unwatch: {
      const auto answer = KeyNotifyReply::parse(payload);
      if (!answer) return answer.error();
      reply.status = answer->done ? Status::done : Status::absent;
      return std::nullopt;
    }
  }
  return Fault{};
}

// A timestamp that is unreadable or too far ahead costs the version, not the result: the operation
// has happened. It does not touch our clock then.
void StoreSession::read_timestamp(const PendingRequest& request, const ReplyProperties& properties,
                                  Reply& reply) {
  if (!properties.timestamp) return;
  const auto timestamp = parse_timestamp(*properties.timestamp);
  const bool asks_time = request.question == Question::clock;
  const bool usable = timestamp && (asks_time ? timestamp->wall <= kLastWall
                                              : !too_far_ahead(*timestamp, now_.wall));
  if (!usable) {
    ++counters_.bad_timestamps;
    return;
  }
  reply.version = *properties.timestamp;
  if (asks_time) {
    reply.server_wall = std::chrono::milliseconds(timestamp->wall);
  } else if (!clock_.observe(*timestamp, now_.wall)) {
    ++counters_.bad_timestamps;
  }
}

// The topic names the key, the payload what happened; section numbers as in
// docs/wire/statestore.md. Without `whole` there is no payload: it was too large to be held.
StoreSession::Step StoreSession::on_notification(const mqtt5::Publish& publish, bool whole,
                                                 Event& event) {
  auto topic = parse_notification_topic(publish.topic);
  if (!topic || topic->client_id != options_.client_id || state_ != State::ready) {
    ++counters_.bad_notifications;
    return Step::again;
  }
  notified_key_ = std::move(topic->key);
  event = {Event::Kind::notification, {}, {}, Sent::no};
  protocol::Notification& told = event.notification;
  told.key = notified_key_;

  const auto news = Notification::parse(publish.payload);
  if (!whole) {
    told.kind = protocol::Notification::Kind::set;
  } else if (!news || news->operation == Notification::Operation::unknown) {
    ++counters_.bad_notifications;
  } else if (news->operation == Notification::Operation::removed) {
    told.kind = protocol::Notification::Kind::deleted;
  } else {
    told.kind = protocol::Notification::Kind::set;
    if (news->value && news->value->size() <= options_.value_limit) told.value = news->value;
  }
  const auto timestamp = publish.properties.user().find(property::timestamp);
  if (!timestamp) return Step::event;
  if (const auto read = parse_timestamp(*timestamp); read && !too_far_ahead(*read, now_.wall)) {
    told.version = *timestamp;
    if (!clock_.observe(*read, now_.wall)) ++counters_.bad_timestamps;
  } else {
    ++counters_.bad_timestamps;
  }
  return Step::event;
}

StoreSession::Step StoreSession::finish(PendingRequest& request, const Reply& reply, Event& event) {
  event = {Event::Kind::reply, request.ticket(), reply, Sent::maybe};
  requests_.answered(request);
  return Step::event;
}

StoreSession::Step StoreSession::refuse(PendingRequest& request, Reason reason,
                                        std::string_view text, Event& event) {
  Reply reply;
  reply.status = Status::refused;
  reply.reason = reason;
  reply.text = text;
  return finish(request, reply, event);
}

}  // namespace sheaf::protocol::statestore
