// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/reply_reader.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::uint64_t last_wall = 253'402'300'799'999;  // the end of the year 9999

template <class Answer>
std::optional<Fault> fault_in(const Parsed<Answer>& answer) {
  if (answer) return std::nullopt;
  return answer.error();
}

// True if only a state store answers a probe in this way. It is there whatever it refuses to this
// client: a right, its quota, its clock. An end that does not know GET is another program.
bool proves_store(const Fault& fault) noexcept {
  switch (fault.reason) {
    case Reason::unknown_command:
    case Reason::wrong_arguments:
    case Reason::syntax:
    case Reason::timed_out:
      return false;
    default:
      return !fault.malformed();
  }
}

// Reads the payload as the answer to the question.
std::optional<Fault> read_answer(Question question, std::string_view payload, Reply& reply) {
  switch (question) {
    case Question::get:
    case Question::inspection: {
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
      return fault_in(KeyNotifyReply::parse(payload));  // `:0`: it was already watched
    case Question::unwatch: {
      const auto answer = KeyNotifyReply::parse(payload);
      if (!answer) return answer.error();
      reply.status = answer->done ? Status::done : Status::absent;
      return std::nullopt;
    }
  }
  return Fault{};
}

}  // namespace

std::expected<Reply, Fault> ReplyReader::read(Question question, const mqtt5::Publish& publish,
                                              std::chrono::milliseconds wall) {
  ReplyProperties properties;
  for (const mqtt5::UserProperty& user : publish.properties.user()) {
    properties.take(user.name, user.value);
  }
  std::optional<Fault> fault;
  Reply reply;
  if (const auto status = properties.check(); !status) {
    fault = status.error();
  } else {
    fault = read_answer(question, publish.payload, reply);
  }
  if (fault) {
    // Our clock was dragged ahead by another store, or by a wall clock since set back.
    if (fault->reason == Reason::clock_skew) clock_.reset();
    if (question == Question::probe && proves_store(*fault)) return Reply{};
    return std::unexpected(*fault);
  }
  if (reply.value.size() > value_limit_) {
    return std::unexpected(Fault{Reason::too_large, "the value is above value_limit"});
  }
  if (properties.timestamp) read_timestamp(question, *properties.timestamp, wall, reply);
  return reply;
}

// A timestamp that is unreadable or too far ahead costs the version, not the result, because the
// operation has happened. It does not move our clock.
void ReplyReader::read_timestamp(Question question, std::string_view text,
                                 std::chrono::milliseconds wall, Reply& reply) {
  const auto timestamp = parse_timestamp(text);
  const bool asks_time = question == Question::clock;
  const bool usable =
      timestamp && (asks_time ? timestamp->wall <= last_wall : !too_far_ahead(*timestamp, wall));
  if (!usable) {
    ++counters_.bad_timestamps;
    return;
  }
  reply.version = text;
  if (asks_time) {
    reply.server_wall = std::chrono::milliseconds(timestamp->wall);
  } else if (!clock_.observe(*timestamp, wall)) {
    ++counters_.bad_timestamps;
  }
}

}  // namespace sheaf::protocol::statestore
