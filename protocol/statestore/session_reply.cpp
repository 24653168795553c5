// StoreSession: what a reply that belongs to a request says.

#include "protocol/statestore/session.h"

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
