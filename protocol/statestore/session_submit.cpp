// StoreSession: from an operation to the bytes of its PUBLISH.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>
#include <new>

#include "protocol/mqtt5/wire.h"
#include "protocol/statestore/session.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

using namespace std::chrono_literals;
using mqtt5::PropertyId;
using mqtt5::PropertyWriter;

constexpr std::string_view kProbeKey = "sheaf/probe";
constexpr auto kClockLife = 1000ms;
// A value up to this size is copied behind its head; a larger one is written from where it lies.
constexpr std::size_t kCopyLimit = 8 * 1024;
constexpr std::uint32_t kDefaultExpiry = 10;  // seconds; what the SDKs send
// Fixed header, topic, packet identifier, property length, each at its longest.
constexpr std::size_t kPublishHead = 5 + 2 + request_topic.size() + 2 + 4;
constexpr std::size_t kExpirySize = 5;  // identifier and four bytes

LocalError refuse_as(Outcome outcome, Reason reason, std::string text) {
  return {outcome, reason, std::move(text)};
}
LocalError bad(std::string text) {
  return refuse_as(Outcome::invalid, Reason::bad_argument, std::move(text));
}
LocalError unsupported(std::string text) {
  return refuse_as(Outcome::unsupported, Reason::bad_argument, std::move(text));
}
LocalError too_large(std::string_view what, std::uint64_t size, std::string_view limit_name,
                     std::uint64_t limit) {
  std::string text(what);
  text.append(" of ").append(std::to_string(size)).append(" bytes is above ");
  text.append(limit_name).append(" of ").append(std::to_string(limit)).append(" bytes");
  return refuse_as(Outcome::invalid, Reason::too_large, std::move(text));
}

// What the state store has no words for.
std::optional<LocalError> unsupported_combination(const Operation& operation) {
  const Condition condition = operation.condition;
  switch (operation.verb) {
    case Verb::set:
      if (condition == Condition::if_value || condition == Condition::if_present ||
          condition == Condition::if_version) {
        return unsupported("the state store sets always, if absent, or if absent or equal");
      }
      if (operation.flags != 0) return unsupported("the state store keeps no flags");
      return std::nullopt;
    case Verb::remove:
      if (condition != Condition::none && condition != Condition::if_value) {
        return unsupported("the state store removes always or if the value is equal");
      }
      if (operation.ttl.count() != 0) return unsupported("a removal has no time to live");
      return std::nullopt;
    case Verb::get:
      if (condition != Condition::none) return unsupported("the state store reads always");
      if (operation.ttl.count() != 0) return unsupported("a read has no time to live");
      if (!operation.fence.empty()) {
        return unsupported("the state store does not check fencing tokens of reads");
      }
      return std::nullopt;
    case Verb::watch:
    case Verb::unwatch:
    case Verb::probe:
    case Verb::clock:
      return std::nullopt;
    default:
      return unsupported("the state store cannot " + std::string(to_string(operation.verb)));
  }
}

std::uint32_t expiry_of(Deadline deadline, Now now) noexcept {
  if (deadline.count() == 0 || deadline == never) return kDefaultExpiry;
  const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - now.mono).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, 0xFFFF'FFFF));
}

SetCondition set_condition(Condition condition) noexcept {
  switch (condition) {
    case Condition::if_absent:
      return SetCondition::if_absent;
    case Condition::if_absent_or_equal:
      return SetCondition::if_absent_or_equal;
    default:
      return SetCondition::none;
  }
}

// Head and tail of a payload, one behind the other; the value belongs between them.
template <class Request>
std::size_t encode_around_value(std::string& out, const Request& request) {
  ByteWriter writer(out);
  request.encode_head(writer);
  const std::size_t head_size = out.size();
  request.encode_tail(writer);
  return head_size;
}

}  // namespace

std::expected<Ticket, LocalError> StoreSession::submit(const Operation& operation, Now now) {
  if (state_ != State::ready) {
    const Reason reason = closed() ? close_reason_.reason : Reason::node_down;
    return std::unexpected(refuse_as(Outcome::not_sent, reason, "the connection is not ready"));
  }
  if (room() == 0) {
    return std::unexpected(refuse_as(Outcome::overloaded, Reason::queue_full,
                                     "the connection carries as many requests as it may"));
  }
  try {
    auto message = compose(operation, now);
    if (!message) return std::unexpected(std::move(message.error()));
    PendingRequest& request = prepare(*message);
    write(*message, request);
    return request.ticket();
  } catch (const std::bad_alloc&) {
    return std::unexpected(refuse_as(Outcome::overloaded, Reason::out_of_memory, "out of memory"));
  }
}

// All that may run out of memory; nothing has changed then. PUBACKs that wait go behind the
// request: a broker takes one packet at a time, and nobody waits for those.
PendingRequest& StoreSession::prepare(const Message& message) {
  const std::size_t copied = message.value.size() <= kCopyLimit ? message.value.size() : 0;
  output_.reserve(message.properties_size + payload_.size() + copied + kPublishHead);
  Correlation correlation;
  random_.fill(std::as_writable_bytes(std::span(&correlation, 1)));
  return requests_.add(correlation, message.question);
}

std::expected<StoreSession::Message, LocalError> StoreSession::compose(const Operation& operation,
                                                                       Now now) {
  Message message;
  message.expiry_seconds = expiry_of(operation.deadline, now);
  if (auto error = spell(operation, message)) return std::unexpected(std::move(*error));
  if (auto error = stamp(operation, message, now)) return std::unexpected(std::move(*error));

  message.payload_size = payload_.size() + message.value.size();
  message.properties_size =
      fixed_properties_.size() + PropertyWriter::text_size({nullptr, Correlation::size}) +
      kExpirySize + PropertyWriter::user_size(property::timestamp, message.timestamp.view()) +
      (message.fence.empty() ? 0
                             : PropertyWriter::user_size(property::fencing_token, message.fence));
  mqtt5::Publish publish;
  publish.qos = 1;
  publish.topic = request_topic;
  const std::size_t size = publish.encoded_size(message.properties_size, message.payload_size);
  if (size > server_packet_limit_) {
    return std::unexpected(
        too_large("the request", size, "the server's Maximum Packet Size", server_packet_limit_));
  }
  return message;
}

// Question, payload and value.
std::optional<LocalError> StoreSession::spell(const Operation& operation, Message& message) {
  if (auto error = unsupported_combination(operation)) return error;
  payload_.clear();
  ByteWriter payload(payload_);
  if (operation.verb == Verb::probe) {
    message.question = Question::probe;
    GetRequest{kProbeKey}.encode(payload);
    return std::nullopt;
  }
  if (operation.verb == Verb::clock) {
    message.question = Question::clock;
    SetRequest{clock_key_, {}, SetCondition::none, kClockLife}.encode(payload);
    return std::nullopt;
  }
  const std::string_view key = operation.key;
  if (key.empty()) return bad("the key is empty");
  if (key.size() > max_key_size_) {
    return too_large("the key", key.size(), "the longest key of the state store", max_key_size_);
  }
  if (operation.value.size() > options_.value_limit) {
    return too_large("the value", operation.value.size(), "value_limit", options_.value_limit);
  }
  if (operation.verb == Verb::get) {
    message.question = Question::get;
    GetRequest{key}.encode(payload);
  } else if (operation.verb == Verb::watch || operation.verb == Verb::unwatch) {
    if (!notified_) {
      return refuse_as(Outcome::refused, Reason::not_authorized,
                       "the server refused the subscription to notifications");
    }
    const bool stop = operation.verb == Verb::unwatch;
    message.question = stop ? Question::unwatch : Question::watch;
    KeyNotifyRequest{key, stop}.encode(payload);
  } else if (operation.verb == Verb::set) {
    if (operation.ttl.count() < 0) return bad("the time to live is negative");
    message.question = Question::set;
    message.value = operation.value;
    const auto condition = set_condition(operation.condition);
    message.head_size =
        encode_around_value(payload_, SetRequest{key, operation.value, condition, operation.ttl});
  } else if (operation.condition == Condition::if_value) {
    message.question = Question::vdel;
    message.value = operation.value;
    message.head_size = encode_around_value(payload_, VdelRequest{key, operation.value});
  } else {
    message.question = Question::del;
    DelRequest{key}.encode(payload);
  }
  return std::nullopt;
}

// Timestamp and fencing token.
std::optional<LocalError> StoreSession::stamp(const Operation& operation, Message& message,
                                              Now now) {
  message.fence = operation.fence;
  if (message.fence.size() > mqtt5::kMaxString || !mqtt5::is_mqtt_string(message.fence)) {
    return bad("the fencing token is no text of at most 65535 bytes");
  }
  if (message.question == Question::clock) {
    // The oldest timestamp there is: the version of the answer is the store's own time.
    message.timestamp = TimestampText(Timestamp{0, 0, options_.client_id}, TimestampForm::unpadded);
    return std::nullopt;
  }
  // Timestamps that are over a minute ahead of our wall clock come from before that was set back.
  // The store would refuse them for as long; being behind it is always fine.
  auto tick = clock_.tick(now.wall);
  if (!tick) {
    clock_.reset();
    tick = clock_.tick(now.wall);
  }
  if (!tick) return refuse_as(Outcome::not_sent, Reason::clock_skew, "the wall clock has no time");
  message.timestamp = TimestampText(*tick);
  return std::nullopt;
}

void StoreSession::write(const Message& message, PendingRequest& request) {
  mqtt5::Publish publish;
  publish.qos = 1;
  publish.topic = request_topic;
  publish.packet_id = request.packet_id();
  std::string& buffer = output_.buffer();
  ByteWriter out(buffer);
  publish.encode_head(out, message.properties_size, message.payload_size);

  out.bytes(fixed_properties_);
  PropertyWriter properties(out);
  properties.text(PropertyId::correlation_data, request.correlation.bytes());
  properties.u32(PropertyId::message_expiry, message.expiry_seconds);
  properties.user(property::timestamp, message.timestamp.view());
  if (!message.fence.empty()) properties.user(property::fencing_token, message.fence);

  const std::string_view payload = payload_;
  if (message.value.empty()) {
    out.bytes(payload);
  } else {
    out.bytes(payload.substr(0, message.head_size));
    if (message.value.size() <= kCopyLimit) {
      out.bytes(message.value);
    } else {
      output_.borrow(message.value);
    }
    out.bytes(payload.substr(message.head_size));
  }
  request.frame = output_.end();
}

}  // namespace sheaf::protocol::statestore
