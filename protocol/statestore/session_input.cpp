// StoreSession: from received bytes to packets, and what each packet does.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <algorithm>

#include "base/text.h"
#include "protocol/statestore/session.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::Frame;
using mqtt5::FrameResult;
using mqtt5::PacketType;
using mqtt5::ReasonCode;

// "the server refused the connection: not authorized (no such user)"
std::string sentence(std::string_view start, ReasonCode code, const mqtt5::Properties& properties) {
  std::string text(start);
  if (code != ReasonCode::success) text.append(": ").append(to_string(code));
  if (properties.reason_string && !properties.reason_string->empty()) {
    text.append(" (").append(printable(*properties.reason_string, 128)).append(")");
  }
  return text;
}

bool is_about_identity(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::unsupported_protocol_version:
    case ReasonCode::client_identifier_not_valid:
    case ReasonCode::bad_user_name_or_password:
    case ReasonCode::not_authorized:
    case ReasonCode::bad_authentication_method:
      return true;
    default:
      return false;
  }
}

bool is_permanent(ReasonCode code) noexcept {
  return is_about_identity(code) || code == ReasonCode::banned || code == ReasonCode::server_moved;
}

Reason reason_of_puback(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::not_authorized:
      return Reason::not_authorized;
    case ReasonCode::quota_exceeded:
      return Reason::quota;
    case ReasonCode::packet_too_large:
      return Reason::too_large;
    default:
      return Reason::other;
  }
}

// Why the server ends a connection that it had accepted.
Reason reason_of_disconnect(ReasonCode code) noexcept {
  switch (code) {
    case ReasonCode::malformed_packet:
    case ReasonCode::protocol_error:
    case ReasonCode::receive_maximum_exceeded:
    case ReasonCode::packet_too_large:
    case ReasonCode::topic_alias_invalid:
      return Reason::protocol_error;
    case ReasonCode::not_authorized:
      return Reason::not_authorized;
    default:
      return Reason::connection_lost;
  }
}

}  // namespace

StoreSession::Step StoreSession::next_packet(Event& event) {
  if (skip_ > 0) return skip_payload();
  const std::string_view data = input_.data();
  const FrameResult result = mqtt5::read_frame(data);
  switch (result.state) {
    case FrameResult::State::malformed:
      return broken(result.error);
    case FrameResult::State::need_more:
      if (result.frame.total_size > input_.limit()) return on_oversized(result.frame, data, event);
      return Step::need_input;
    case FrameResult::State::frame:
      break;
  }
  input_.consumed(result.frame.total_size);
  return on_packet(result.frame, data.substr(0, result.frame.total_size), event);
}

StoreSession::Step StoreSession::on_packet(const Frame& frame, std::string_view packet,
                                           Event& event) {
  if (state_ != State::ready) return on_handshake(frame, packet, event);
  switch (frame.type) {
    case PacketType::publish:
      return on_publish(frame, packet, event);
    case PacketType::puback:
      return on_puback(frame, packet, event);
    case PacketType::disconnect:
      return on_disconnect(frame, packet);
    case PacketType::pingresp: {
      const auto pingresp = mqtt5::Pingresp::parse(frame, packet);
      return pingresp ? Step::again : broken(pingresp.error());
    }
    default:
      return out_of_place(frame.type);
  }
}

StoreSession::Step StoreSession::on_handshake(const Frame& frame, std::string_view packet,
                                              Event& event) {
  if (frame.type == PacketType::disconnect) return on_disconnect(frame, packet);
  if (state_ == State::connecting) {
    if (frame.type == PacketType::connack) return on_connack(frame, packet);
    return out_of_place(frame.type);
  }
  if (frame.type == PacketType::suback) return on_suback(frame, packet, event);
  if (frame.type == PacketType::publish) return on_publish(frame, packet, event);
  return out_of_place(frame.type);
}

StoreSession::Step StoreSession::on_connack(const Frame& frame, std::string_view packet) {
  const auto connack = mqtt5::Connack::parse(frame, packet);
  if (!connack) return broken(connack.error());
  if (is_error(connack->code)) {
    end({is_about_identity(connack->code) ? Reason::authentication : Reason::connect_failed,
         sentence("the server refused the connection", connack->code, connack->properties),
         is_permanent(connack->code)},
        std::nullopt);
    return Step::again;
  }
  const mqtt5::Properties& limits = connack->properties;
  // Section 3.2.2.1.1: there was a clean start.
  if (connack->session_present) {
    return broken("the server resumed a session after a clean start", ReasonCode::protocol_error);
  }
  if (limits.maximum_qos == 0) {
    end({Reason::connect_failed, "the server does not offer QoS 1, which the state store needs",
         true},
        ReasonCode::qos_not_supported);
    return Step::again;
  }
  if (limits.assigned_client_id) options_.client_id = *limits.assigned_client_id;
  if (options_.client_id.size() > kMaxClientId || !response_topic_allowed(options_.client_id)) {
    return broken("the server assigned a client ID that fits no topic", ReasonCode::protocol_error);
  }
  if (limits.receive_maximum) server_window_ = *limits.receive_maximum;
  if (limits.maximum_packet_size) server_packet_limit_ = *limits.maximum_packet_size;
  if (limits.server_keep_alive.value_or(0) > 0) {
    const Deadline server = std::chrono::seconds(*limits.server_keep_alive);
    ping_interval_ = std::min(ping_interval_, server);
  }
  state_ = State::subscribing;
  const std::size_t before = output_.size();
  send_subscribe();
  if (output_.size() - before > server_packet_limit_) {
    end({Reason::connect_failed, "the server's Maximum Packet Size is too small to subscribe",
         true},
        std::nullopt);
  }
  return Step::again;
}

StoreSession::Step StoreSession::on_suback(const Frame& frame, std::string_view packet,
                                           Event& event) {
  const auto suback = mqtt5::Suback::parse(frame, packet);
  if (!suback) return broken(suback.error());
  if (suback->packet_id != kSubscribeId || suback->codes.size() != 2) {
    return broken("SUBACK does not answer our SUBSCRIBE", ReasonCode::protocol_error);
  }
  const ReasonCode code = suback->code(0);
  if (is_error(code)) {
    const bool forbidden = code == ReasonCode::not_authorized;
    end({forbidden ? Reason::not_authorized : Reason::connect_failed,
         sentence("the server refused the subscription to replies", code, suback->properties),
         forbidden},
        ReasonCode::success);
    return Step::again;
  }
  notified_ = !is_error(suback->code(1));
  state_ = State::ready;
  event = {Event::Kind::ready, {}, {}, Sent::no};
  return Step::event;
}

// What we never asked for: QoS 2 (we subscribe with 1) and topic aliases (we announce none).
std::optional<mqtt5::ParseError> StoreSession::refusal_of(const mqtt5::Publish& publish) const {
  if (publish.qos > 1) {
    return mqtt5::ParseError{ReasonCode::qos_not_supported, "PUBLISH with QoS 2"};
  }
  if (publish.properties.topic_alias) {
    return mqtt5::ParseError{ReasonCode::topic_alias_invalid, "topic alias, and none was allowed"};
  }
  return std::nullopt;
}

StoreSession::Step StoreSession::on_publish(const Frame& frame, std::string_view packet,
                                            Event& event) {
  const auto publish = mqtt5::Publish::parse(frame, packet);
  if (!publish) return broken(publish.error());
  if (const auto refusal = refusal_of(*publish)) return broken(*refusal);
  if (publish->qos == 1) acknowledge(publish->packet_id);
  if (closed()) return Step::again;
  if (in_notification_tree(publish->topic)) return on_notification(*publish, true, event);
  PendingRequest* const request = pair(*publish);
  if (closed() || request == nullptr) return Step::again;
  return on_reply(*request, *publish, event);
}

// The request that this is the reply to. Null: nobody waits for it, or (closed) it cannot be.
PendingRequest* StoreSession::pair(const mqtt5::Publish& publish) {
  PendingRequest* const request =
      publish.topic == response_topic_
          ? requests_.find(publish.properties.correlation_data.value_or(std::string_view{}))
          : nullptr;
  if (request == nullptr) {
    ++counters_.late_replies;
    return nullptr;
  }
  if (output_.progress(request->frame) != OutputQueue::Progress::written) {
    broken("reply to a request that has not been sent", ReasonCode::protocol_error);
    return nullptr;
  }
  return request;
}

// A PUBLISH that no buffer may hold: its head decides, its payload passes by.
StoreSession::Step StoreSession::on_oversized(const Frame& frame, std::string_view buffered,
                                              Event& event) {
  const bool expected = state_ == State::ready || state_ == State::subscribing;
  if (frame.type != PacketType::publish || !expected) {
    return broken("the packet is larger than any expected one", ReasonCode::packet_too_large);
  }
  const auto head = mqtt5::Publish::parse_head(frame, buffered);
  if (!head) return broken(head.error());
  const std::size_t head_size = buffered.size() - (*head ? (*head)->payload.size() : 0);
  if (head_size > kMaxHead) {
    return broken("the head of a PUBLISH is larger than 192 KiB", ReasonCode::packet_too_large);
  }
  if (!*head) return Step::need_input;
  const mqtt5::Publish& publish = **head;
  if (const auto refusal = refusal_of(publish)) return broken(*refusal);
  input_.consumed(head_size);
  skip_ = frame.total_size - head_size;
  skip_packet_id_ = publish.packet_id;
  if (in_notification_tree(publish.topic)) return on_notification(publish, false, event);
  PendingRequest* const request = pair(publish);
  if (closed() || request == nullptr) return Step::again;
  return refuse(*request, Reason::too_large, "the value is above value_limit", event);
}

StoreSession::Step StoreSession::skip_payload() {
  const std::size_t size = std::min(skip_, input_.data().size());
  if (size == 0) return Step::need_input;
  input_.consumed(size);
  skip_ -= size;
  if (skip_ == 0 && skip_packet_id_ != 0) acknowledge(skip_packet_id_);
  return Step::again;
}

StoreSession::Step StoreSession::on_puback(const Frame& frame, std::string_view packet,
                                           Event& event) {
  const auto puback = mqtt5::Puback::parse(frame, packet);
  if (!puback) return broken(puback.error());
  PendingRequest* const request = requests_.find_packet(puback->packet_id);
  if (request == nullptr) {  // doubled on its way: it frees nothing and says nothing
    ++counters_.late_replies;
    return Step::again;
  }
  if (output_.progress(request->frame) != OutputQueue::Progress::written) {
    return broken("PUBACK for nothing that was sent", ReasonCode::protocol_error);
  }
  const bool refused = request->waiting && is_error(puback->code);
  if (refused) {
    const std::string_view words = puback->properties.reason_string.value_or(std::string_view{});
    refuse(*request, reason_of_puback(puback->code),
           words.empty() ? to_string(puback->code) : words, event);
  }
  requests_.acknowledged(*request);
  return refused ? Step::event : Step::again;
}

StoreSession::Step StoreSession::on_disconnect(const Frame& frame, std::string_view packet) {
  const auto disconnect = mqtt5::Disconnect::parse(frame, packet);
  if (!disconnect) return broken(disconnect.error());
  end({reason_of_disconnect(disconnect->code),
       sentence("the server ended the connection", disconnect->code, disconnect->properties),
       is_permanent(disconnect->code)},
      std::nullopt);
  return Step::again;
}

StoreSession::Step StoreSession::broken(std::string_view what, ReasonCode code) {
  end({Reason::protocol_error, "the server broke the protocol: " + std::string(what), false}, code);
  return Step::again;
}

StoreSession::Step StoreSession::out_of_place(PacketType type) {
  std::string text(to_string(type));
  return broken(text.append(" was not expected here"), ReasonCode::protocol_error);
}

}  // namespace sheaf::protocol::statestore
