// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/request_writer.h"

#include <algorithm>
#include <span>

#include "protocol/mqtt5/packets.h"
#include "protocol/mqtt5/wire.h"
#include "protocol/refusals.h"
#include "protocol/statestore/inspection.h"
#include "protocol/statestore/packets.h"
#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

using namespace std::chrono_literals;
using mqtt5::PropertyId;
using mqtt5::PropertyWriter;

constexpr auto clock_key_life = 1000ms;
constexpr std::uint32_t default_expiry = 10;  // seconds; what the SDKs send
// Fixed header, topic, packet identifier, property length, each at its longest.
constexpr std::size_t publish_head = 5 + 2 + request_topic.size() + 2 + 4;
static_assert(inspection_topic.size() <= request_topic.size());
constexpr std::size_t expiry_size = 5;  // identifier and four bytes

std::string_view topic_of(Question question) noexcept {
  return question == Question::inspection ? inspection_topic : request_topic;
}

// Refuses operations for which the state store has no request.
std::optional<LocalError> unsupported_combination(const Operation& operation) {
  const Condition condition = operation.condition;
  switch (operation.verb) {
    case Verb::set:
      if (condition == Condition::if_value || condition == Condition::if_present ||
          condition == Condition::if_version) {
        return unsupported("the state store can set always, if absent, or if absent or equal");
      }
      if (operation.flags != 0) return unsupported("the state store keeps no flags");
      return std::nullopt;
    case Verb::remove:
      if (condition != Condition::none && condition != Condition::if_value) {
        return unsupported("the state store can remove always or if the value is equal");
      }
      if (operation.ttl.count() != 0) return unsupported("a remove takes no time to live");
      return std::nullopt;
    case Verb::get:
      if (condition != Condition::none)
        return unsupported("reads of the state store take no condition");
      if (operation.ttl.count() != 0) return unsupported("a read takes no time to live");
      if (operation.ttl_left)
        return unsupported("the state store does not report how long a value lives");
      if (!operation.fence.empty()) {
        return unsupported("the state store does not check fencing tokens of reads");
      }
      return std::nullopt;
    case Verb::stats:
      if (!inspection_of_group(operation.key)) {
        return unsupported("the statistics of the state store have no groups");
      }
      return std::nullopt;
    case Verb::watch:
    case Verb::unwatch:
    case Verb::probe:
    case Verb::clock:
    case Verb::server_version:
      return std::nullopt;
    default:
      return unsupported("the state store has no operation \"" +
                         std::string(to_string(operation.verb)) + "\"");
  }
}

// Section 3.3.2.3.3: the server drops the request if it still holds it after this many seconds.
std::uint32_t expiry_of(Deadline deadline, Now now) noexcept {
  if (deadline.count() == 0 || deadline == never) return default_expiry;
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

// Appends head and tail of a payload, and returns the size of the head, where the value belongs.
template <class Request>
std::size_t encode_around_value(std::string& out, const Request& request) {
  ByteWriter writer(out);
  request.encode_head(writer);
  const std::size_t head_size = out.size();
  request.encode_tail(writer);
  return head_size;
}

}  // namespace

RequestWriter::RequestWriter(const StoreSessionOptions& options, const Agreement& agreement,
                             HybridClock& clock, RequestTable& requests, OutputQueue& output)
    : agreement_(agreement),
      clock_(clock),
      requests_(requests),
      output_(output),
      random_(options.seed),
      value_limit_(options.value_limit) {}

void RequestWriter::start() {
  const std::string& id = agreement_.client_id;
  longest_key_ = max_watched_key_size(id.size());
  clock_key_ = "sheaf/clock/" + id;
  fixed_properties_.clear();
  ByteWriter out(fixed_properties_);
  PropertyWriter fixed(out);
  fixed.byte(PropertyId::payload_format, 0);
  fixed.text(PropertyId::content_type, content_type);
  fixed.text(PropertyId::response_topic, agreement_.response_topic);
  fixed.user(property::protocol_version, protocol_version);
  fixed.user(property::source_id, id);
  fixed.user(property::partition, id);
  fixed.user(property::high_priority, {});
}

std::expected<Ticket, LocalError> RequestWriter::write(const Operation& operation, Now now) {
  Draft draft;
  if (auto error = make_draft(operation, draft, now)) return std::unexpected(std::move(*error));
  PendingRequest& request = add(draft);
  queue(draft, request);
  return request.ticket;
}

std::optional<LocalError> RequestWriter::make_draft(const Operation& operation, Draft& draft,
                                                    Now now) {
  draft.expiry_seconds = expiry_of(operation.deadline, now);
  if (auto error = encode_payload(operation, draft)) return error;
  if (auto error = stamp(operation, draft, now)) return error;

  draft.payload_size = payload_.size() + draft.value.size();
  draft.properties_size =
      fixed_properties_.size() + PropertyWriter::text_size({nullptr, Correlation::size}) +
      expiry_size + PropertyWriter::user_size(property::timestamp, draft.timestamp.view()) +
      (draft.fence.empty() ? 0 : PropertyWriter::user_size(property::fencing_token, draft.fence)) +
      (draft.persist ? PropertyWriter::user_size(property::persistence, persistence_asked) : 0);
  mqtt5::Publish publish;
  publish.qos = 1;
  publish.topic = topic_of(draft.question);
  const std::size_t size = publish.encoded_size(draft.properties_size, draft.payload_size);
  if (size > agreement_.packet_limit) {
    return too_large("the request", size, "the server's Maximum Packet Size",
                     agreement_.packet_limit);
  }
  return std::nullopt;
}

// ---- payload

std::optional<LocalError> RequestWriter::encode_payload(const Operation& operation, Draft& draft) {
  if (auto error = unsupported_combination(operation)) return error;
  payload_.clear();
  ByteWriter payload(payload_);
  switch (operation.verb) {
    case Verb::probe:
      draft.question = Question::probe;
      GetRequest{probe_key}.encode(payload);
      return std::nullopt;
    case Verb::clock:
      draft.question = Question::clock;
      SetRequest{clock_key_, {}, SetCondition::none, clock_key_life}.encode(payload);
      return std::nullopt;
    case Verb::stats:
      draft.question = Question::inspection;
      std::visit([&](const auto& asked) { asked.encode(payload); },
                 *inspection_of_group(operation.key));
      return std::nullopt;
    case Verb::server_version:
      draft.question = Question::inspection;
      VersionInspection{}.encode(payload);
      return std::nullopt;
    default:
      break;
  }
  if (auto error = check_key_and_value(operation)) return error;
  switch (operation.verb) {
    case Verb::get:
      draft.question = Question::get;
      GetRequest{operation.key}.encode(payload);
      return std::nullopt;
    case Verb::watch:
    case Verb::unwatch:
      return encode_watch(operation, draft);
    case Verb::set:
      return encode_set(operation, draft);
    default:
      encode_remove(operation, draft);
      return std::nullopt;
  }
}

std::optional<LocalError> RequestWriter::check_key_and_value(const Operation& operation) const {
  if (operation.key.empty()) return invalid("the key is empty");
  if (operation.key.size() > longest_key_) {
    return too_large("the key", operation.key.size(), "the longest key of the state store",
                     longest_key_);
  }
  if (operation.value.size() > value_limit_) {
    return too_large("the value", operation.value.size(), "value_limit", value_limit_);
  }
  return std::nullopt;
}

std::optional<LocalError> RequestWriter::encode_watch(const Operation& operation, Draft& draft) {
  if (!agreement_.notifications) {
    return LocalError{Outcome::refused, Reason::not_authorized,
                      "the server refused the subscription to notifications"};
  }
  const bool stop = operation.verb == Verb::unwatch;
  draft.question = stop ? Question::unwatch : Question::watch;
  ByteWriter payload(payload_);
  KeyNotifyRequest{operation.key, stop}.encode(payload);
  return std::nullopt;
}

std::optional<LocalError> RequestWriter::encode_set(const Operation& operation, Draft& draft) {
  if (operation.ttl.count() < 0) return invalid("the time to live is negative");
  draft.question = Question::set;
  draft.persist = operation.persist;
  draft.value = operation.value;
  draft.head_size =
      encode_around_value(payload_, SetRequest{operation.key, operation.value,
                                               set_condition(operation.condition), operation.ttl});
  return std::nullopt;
}

void RequestWriter::encode_remove(const Operation& operation, Draft& draft) {
  if (operation.condition == Condition::if_value) {
    draft.question = Question::vdel;
    draft.value = operation.value;
    draft.head_size = encode_around_value(payload_, VdelRequest{operation.key, operation.value});
    return;
  }
  draft.question = Question::del;
  ByteWriter payload(payload_);
  DelRequest{operation.key}.encode(payload);
}

// ---- timestamp and fencing token

std::optional<LocalError> RequestWriter::stamp(const Operation& operation, Draft& draft, Now now) {
  draft.fence = operation.fence;
  if (draft.fence.size() > mqtt5::max_string || !mqtt5::is_mqtt_string(draft.fence)) {
    return invalid("the fencing token is not a text of at most 65535 bytes");
  }
  if (draft.question == Question::clock) {
    // The oldest possible timestamp: the version in the answer is then the store's own time.
    draft.timestamp = TimestampText(Timestamp{0, 0, agreement_.client_id}, TimestampForm::unpadded);
    return std::nullopt;
  }
  // Our clock is over a minute ahead of the wall clock, so the wall clock was set back. The store
  // would refuse such timestamps for as long; a timestamp that is too old is always fine.
  auto tick = clock_.tick(now.wall);
  if (!tick) {
    clock_.reset();
    tick = clock_.tick(now.wall);
  }
  if (!tick)
    return LocalError{Outcome::not_sent, Reason::clock_skew, "the wall clock shows no usable time"};
  draft.timestamp = TimestampText(*tick);
  return std::nullopt;
}

// ---- output

// Everything that may run out of memory; if it throws, nothing has changed.
PendingRequest& RequestWriter::add(const Draft& draft) {
  output_.reserve(draft.properties_size + payload_.size() + publish_head, draft.value.size());
  Correlation correlation;
  random_.fill(std::as_writable_bytes(std::span(&correlation, 1)));
  return requests_.add(correlation, draft.question);
}

void RequestWriter::queue(const Draft& draft, PendingRequest& request) {
  mqtt5::Publish publish;
  publish.qos = 1;
  publish.topic = topic_of(draft.question);
  publish.packet_id = request.packet_id();
  ByteWriter out(output_.buffer());
  publish.encode_head(out, draft.properties_size, draft.payload_size);

  out.bytes(fixed_properties_);
  PropertyWriter properties(out);
  properties.text(PropertyId::correlation_data, request.correlation.bytes());
  properties.u32(PropertyId::message_expiry, draft.expiry_seconds);
  properties.user(property::timestamp, draft.timestamp.view());
  if (!draft.fence.empty()) properties.user(property::fencing_token, draft.fence);
  if (draft.persist) properties.user(property::persistence, persistence_asked);

  const std::string_view payload = payload_;
  if (draft.value.empty()) {
    out.bytes(payload);
  } else {
    out.bytes(payload.substr(0, draft.head_size));
    output_.put_value(draft.value);
    out.bytes(payload.substr(draft.head_size));
  }
  request.frame = output_.end();
}

}  // namespace sheaf::protocol::statestore
