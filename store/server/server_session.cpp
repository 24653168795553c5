// Pure: no socket, clock, entropy, thread or callback.

#include "store/server/server_session.h"

#include <algorithm>
#include <utility>

#include "store/server/topic_filter.h"

namespace sheaf::store::server {

namespace mqtt5 = protocol::mqtt5;
using mqtt5::Frame;
using mqtt5::PacketType;
using mqtt5::PropertyId;

namespace {

constexpr std::size_t first_read = 8 * 1024;  // most clients send little

bool paused(const OutputBuffer& output, const SessionLimits& limits) noexcept {
  return output.size() > limits.pause_above;
}

}  // namespace

ServerSession::ServerSession(const SessionLimits& limits, Now now)
    : limits_(limits),
      now_(now),
      deadline_(now.mono + limits.connect_timeout),
      input_(limits.max_packet, first_read),
      window_(limits.max_waiting, limits.max_waiting_bytes) {}

// Inputs -----------------------------------------------------------------------------------------

std::span<std::byte> ServerSession::input_space() {
  if (state_ == State::leaving || state_ == State::ended || paused(output_, limits_)) return {};
  input_.consumed(std::exchange(parsed_, 0));
  const std::span<std::byte> space = input_.space();
  if (input_.out_of_memory()) {
    end_text_ = "out of memory";
    state_ = State::ended;
  }
  return space;
}

void ServerSession::on_input(std::size_t size, Now now) {
  now_ = now;
  input_.added(size);
  // Any packet is a sign of life (section 3.1.2.10), and so is a part of one.
  if (state_ == State::open && keep_alive_.count() > 0) deadline_ = now.mono + keep_alive_;
}

void ServerSession::on_output(std::size_t size, Now now) {
  now_ = now;
  // A paused session takes no input; the client shows life by reading.
  if (paused(output_, limits_) && state_ == State::open && keep_alive_.count() > 0) {
    deadline_ = now.mono + keep_alive_;
  }
  output_.take(size);
  if (state_ == State::leaving && output_.size() == 0) state_ = State::ended;
}

void ServerSession::on_eof(Now now) {
  now_ = now;
  if (end_text_.empty()) end_text_ = "the client closed the connection without DISCONNECT";
  state_ = State::ended;
}

void ServerSession::on_deadline(Now now) {
  now_ = now;
  if (state_ == State::ended || now.mono < deadline_) return;
  if (state_ == State::open) {
    disconnect(ReasonCode::keep_alive_timeout, "nothing came within the keep-alive time");
  } else {
    if (end_text_.empty()) end_text_ = "no CONNECT came in time";
    state_ = State::ended;
  }
}

std::optional<Deadline> ServerSession::poll_deadline() const {
  if (state_ == State::ended || deadline_ == never) return std::nullopt;
  return deadline_;
}

// Answers ----------------------------------------------------------------------------------------

void ServerSession::accept(std::string_view assigned_client_id) {
  if (state_ != State::deciding) return;
  scratch_.clear();
  ByteWriter writer(scratch_);
  mqtt5::PropertyWriter properties(writer);
  // Sessions end with their connection (section 3.2.2.3.2).
  if (lower_expiry_) properties.u32(PropertyId::session_expiry, 0);
  properties.byte(PropertyId::maximum_qos, 1);
  properties.byte(PropertyId::retain_available, 0);
  properties.u32(PropertyId::maximum_packet_size, limits_.max_packet);
  if (!assigned_client_id.empty()) {
    properties.text(PropertyId::assigned_client_id, assigned_client_id);
    client_id_ = assigned_client_id;
  }
  properties.byte(PropertyId::subscription_identifier_available, 0);
  properties.byte(PropertyId::shared_subscription_available, 0);
  if (!method_.empty()) properties.text(PropertyId::authentication_method, method_);
  mqtt5::Connack connack;
  connack.properties.raw = scratch_;
  if (!send(connack)) {
    return end(ReasonCode::packet_too_large, "CONNACK is above the client's Maximum Packet Size");
  }
  state_ = State::open;
  end_reported_ = false;
  deadline_ = keep_alive_.count() > 0 ? now_.mono + keep_alive_ : never;
}

void ServerSession::refuse(ReasonCode code, std::string_view text) {
  if (state_ != State::greeting && state_ != State::deciding) return;
  end_code_ = code;
  end_text_ = text;
  mqtt5::Connack connack;
  connack.code = code;
  scratch_.clear();
  ByteWriter writer(scratch_);
  mqtt5::PropertyWriter(writer).text(PropertyId::reason_string, text);
  connack.properties.raw = scratch_;
  if (!send(connack)) {
    connack.properties.raw = {};
    send(connack);
  }
  leave();
}

void ServerSession::authenticated() {
  if (state_ != State::open) return;
  scratch_.clear();
  ByteWriter writer(scratch_);
  mqtt5::PropertyWriter(writer).text(PropertyId::authentication_method, method_);
  mqtt5::Auth auth;
  auth.properties.raw = scratch_;
  if (!send(auth)) end(ReasonCode::packet_too_large, "AUTH is above the client's limit");
}

void ServerSession::acknowledge(std::uint16_t packet_id, ReasonCode code) {
  if (state_ != State::open) return;
  mqtt5::Puback puback;
  puback.packet_id = packet_id;
  puback.code = code;
  if (!send(puback)) end(ReasonCode::packet_too_large, "PUBACK is above the client's limit");
}

ServerSession::Delivery ServerSession::publish(mqtt5::Publish& message) {
  const std::size_t size =
      message.encoded_size(message.properties.raw.size(), message.payload.size());
  if (state_ != State::open || size > client_max_packet_) return Delivery::discarded;
  if (output_.size() > limits_.max_output) {
    disconnect(ReasonCode::quota_exceeded, "the client does not read what is sent to it");
    return Delivery::cut_off;
  }
  message.packet_id = 0;
  if (message.qos > 0) {
    const auto id = window_.waiting() == 0 ? window_.acquire() : std::nullopt;
    if (!id) {
      OutgoingWindow::Waiting waiting;
      ByteWriter writer(waiting.packet);
      message.encode(writer);
      waiting.id_at =
          mqtt5::read_frame(waiting.packet).frame.header_size + 2 + message.topic.size();
      if (window_.push(std::move(waiting))) return Delivery::queued;
      disconnect(ReasonCode::quota_exceeded, "the client does not acknowledge what is sent to it");
      return Delivery::cut_off;
    }
    message.packet_id = *id;
  }
  if (limits_.hold_results) output_.hold();
  ByteWriter writer(output_.sink());
  message.encode(writer);
  return Delivery::queued;
}

void ServerSession::disconnect(ReasonCode code, std::string_view text) {
  if (state_ != State::open) return;
  end_code_ = code;
  end_text_ = text;
  mqtt5::Disconnect packet;
  packet.code = code;
  scratch_.clear();
  ByteWriter writer(scratch_);
  mqtt5::PropertyWriter(writer).text(PropertyId::reason_string, text);
  packet.properties.raw = scratch_;
  if (!send(packet)) {
    packet.properties.raw = {};
    send(packet);
  }
  leave();
}

void ServerSession::abandon(std::string_view text) {
  if (state_ != State::open) {
    if (!output_.holding()) return;
    output_.drop();
    if (state_ == State::leaving) state_ = State::ended;
    return;
  }
  const bool cut = output_.cut();
  output_.drop();
  if (cut) return end(ReasonCode::unspecified_error, text);
  disconnect(ReasonCode::unspecified_error, text);
}

void ServerSession::leave() {
  state_ = output_.size() > 0 ? State::leaving : State::ended;
  deadline_ = now_.mono + limits_.linger_timeout;
}

void ServerSession::end(ReasonCode code, std::string_view text) {
  end_code_ = code;
  end_text_ = text;
  state_ = State::ended;
}

std::optional<std::uint8_t> ServerSession::subscription(std::string_view topic) const {
  std::optional<std::uint8_t> best;
  for (const Granted& granted : subscriptions_) {
    if (matches(granted.filter, topic)) best = std::max(best.value_or(0), granted.qos);
  }
  return best;
}

// Packets of the client --------------------------------------------------------------------------

bool ServerSession::poll_event(ServerEvent& event) {
  input_.consumed(std::exchange(parsed_, 0));
  while ((state_ == State::greeting || state_ == State::open) && !paused(output_, limits_)) {
    const mqtt5::FrameResult found = mqtt5::read_frame(input_.data());
    if (found.state == mqtt5::FrameResult::State::malformed) {
      fail(found.error);
      break;
    }
    const std::size_t limit = state_ == State::greeting ? limits_.max_connect : limits_.max_packet;
    if (found.frame.header_size > 0 && found.frame.total_size > limit) {
      fail({ReasonCode::packet_too_large, "packet is above the server's Maximum Packet Size"});
      break;
    }
    if (found.state == mqtt5::FrameResult::State::need_more) break;
    parsed_ = found.frame.total_size;
    if (on_packet(found.frame, input_.data().substr(0, parsed_), event)) return true;
    input_.consumed(std::exchange(parsed_, 0));
  }
  if (!end_reported_ && (state_ == State::leaving || state_ == State::ended)) {
    end_reported_ = true;
    event.kind = ServerEvent::Kind::ended;
    return true;
  }
  return false;
}

// Returns true if `event` must be returned.
bool ServerSession::on_packet(const Frame& frame, std::string_view packet, ServerEvent& event) {
  if (state_ == State::greeting) {
    if (frame.type == PacketType::connect) return on_connect(frame, packet, event);
    end(ReasonCode::protocol_error, "the first packet is not CONNECT");  // section 3.1
    return false;
  }
  switch (frame.type) {
    case PacketType::publish:
      return on_publish(frame, packet, event);
    case PacketType::puback:
      on_puback(frame, packet);
      return false;
    case PacketType::subscribe:
      on_subscribe(frame, packet);
      return false;
    case PacketType::unsubscribe:
      on_unsubscribe(frame, packet);
      return false;
    case PacketType::pingreq:
      if (const auto parsed = mqtt5::Pingreq::parse(frame, packet); !parsed)
        fail(parsed.error());
      else
        send(mqtt5::Pingresp{});
      return false;
    case PacketType::disconnect:
      if (const auto parsed = mqtt5::Disconnect::parse(frame, packet); !parsed)
        fail(parsed.error());
      else
        end(parsed->code, {});
      return false;
    case PacketType::connect:
      fail({ReasonCode::protocol_error, "a second CONNECT"});  // section 3.1
      return false;
    case PacketType::auth:
      return on_auth(frame, packet, event);
    default:
      fail({ReasonCode::protocol_error, "a packet that clients do not send to this server"});
      return false;
  }
}

bool ServerSession::on_connect(const Frame& frame, std::string_view packet, ServerEvent& event) {
  const auto parsed = mqtt5::Connect::parse(frame, packet);
  if (!parsed) return fail(parsed.error()), false;
  const mqtt5::Connect& connect = *parsed;
  client_max_packet_ =
      std::min(client_max_packet_, connect.properties.maximum_packet_size.value_or(largest_packet));
  if (connect.will && connect.will->qos > 1) {  // section 3.2.2.3.4
    return refuse(ReasonCode::qos_not_supported, "a will of QoS 2 is not supported"), false;
  }
  if (connect.will && connect.will->retain) {  // section 3.2.2.3.5
    return refuse(ReasonCode::retain_not_supported, "a retained will is not supported"), false;
  }
  window_.set_receive_maximum(connect.properties.receive_maximum.value_or(65535));
  keep_alive_ = std::chrono::milliseconds(1500) * connect.keep_alive;  // section 3.1.2.10
  lower_expiry_ = connect.properties.session_expiry.value_or(0) > 0;
  client_id_ = connect.client_id;
  method_ = connect.properties.authentication_method.value_or(std::string_view{});
  state_ = State::deciding;
  event.kind = ServerEvent::Kind::connect;
  event.connect = connect;
  return true;
}

// Methods have only one step here, so a client only ever begins one (section 4.12.1).
bool ServerSession::on_auth(const Frame& frame, std::string_view packet, ServerEvent& event) {
  const auto parsed = mqtt5::Auth::parse(frame, packet);
  if (!parsed) return fail(parsed.error()), false;
  if (method_.empty()) {
    return fail({ReasonCode::protocol_error, "AUTH without an authentication method"}), false;
  }
  if (parsed->properties.authentication_method.value_or(std::string_view{}) != method_) {
    return fail({ReasonCode::protocol_error, "AUTH is of another authentication method"}), false;
  }
  if (parsed->code != ReasonCode::reauthenticate) {
    return fail({ReasonCode::protocol_error, "AUTH that does not begin a re-authentication"}),
           false;
  }
  event.kind = ServerEvent::Kind::authenticate;
  event.authenticate = *parsed;
  return true;
}

bool ServerSession::on_publish(const Frame& frame, std::string_view packet, ServerEvent& event) {
  const auto parsed = mqtt5::Publish::parse(frame, packet);
  if (!parsed) return fail(parsed.error()), false;
  if (parsed->qos > 1) {
    return fail({ReasonCode::qos_not_supported, "QoS 2 is not supported"}), false;
  }
  if (parsed->retain) {
    return fail({ReasonCode::retain_not_supported, "retained messages are not supported"}), false;
  }
  if (parsed->properties.topic_alias) {  // none are offered: section 3.3.2.3.4
    return fail({ReasonCode::topic_alias_invalid, "topic aliases are not supported"}), false;
  }
  event.kind = ServerEvent::Kind::publish;
  event.publish = *parsed;
  return true;
}

void ServerSession::on_puback(const Frame& frame, std::string_view packet) {
  const auto parsed = mqtt5::Puback::parse(frame, packet);
  if (!parsed) return fail(parsed.error());
  if (!window_.release(parsed->packet_id)) return;  // delivered twice; brokers ignore it, too
  while (const auto next = window_.pop()) {
    if (limits_.hold_results) output_.hold();
    output_.sink() += *next;
  }
}

void ServerSession::on_subscribe(const Frame& frame, std::string_view packet) {
  const auto parsed = mqtt5::Subscribe::parse(frame, packet);
  if (!parsed) return fail(parsed.error());
  if (parsed->properties.subscription_identifier) {
    return fail({ReasonCode::subscription_identifiers_not_supported,
                 "subscription identifiers are not supported"});
  }
  scratch_.clear();
  for (const mqtt5::Subscription& entry : parsed->entries) {
    scratch_.push_back(static_cast<char>(subscribe(entry)));
  }
  mqtt5::Suback suback;
  suback.packet_id = parsed->packet_id;
  suback.codes = scratch_;
  if (!send(suback)) end(ReasonCode::packet_too_large, "SUBACK is above the client's limit");
}

ServerSession::ReasonCode ServerSession::subscribe(const mqtt5::Subscription& entry) {
  if (!valid_filter(entry.filter)) return ReasonCode::topic_filter_invalid;
  if (entry.filter.starts_with("$share/")) return ReasonCode::shared_subscriptions_not_supported;
  const std::uint8_t qos = std::min<std::uint8_t>(entry.qos, 1);
  const auto known = std::find_if(subscriptions_.begin(), subscriptions_.end(),
                                  [&](const Granted& g) { return g.filter == entry.filter; });
  if (known != subscriptions_.end()) {
    known->qos = qos;
  } else if (subscriptions_.size() < limits_.max_subscriptions) {
    subscriptions_.push_back({std::string(entry.filter), qos});
  } else {
    return ReasonCode::quota_exceeded;
  }
  return static_cast<ReasonCode>(qos);
}

void ServerSession::on_unsubscribe(const Frame& frame, std::string_view packet) {
  const auto parsed = mqtt5::Unsubscribe::parse(frame, packet);
  if (!parsed) return fail(parsed.error());
  scratch_.clear();
  for (const std::string_view filter : parsed->entries) {
    const std::size_t gone =
        std::erase_if(subscriptions_, [&](const Granted& g) { return g.filter == filter; });
    const ReasonCode code = gone > 0 ? ReasonCode::success : ReasonCode::no_subscription_existed;
    scratch_.push_back(static_cast<char>(code));
  }
  mqtt5::Unsuback unsuback;
  unsuback.packet_id = parsed->packet_id;
  unsuback.codes = scratch_;
  if (!send(unsuback)) end(ReasonCode::packet_too_large, "UNSUBACK is above the client's limit");
}

// The client broke a rule: sends the reason (section 4.13), then closes.
void ServerSession::fail(const mqtt5::ParseError& error) {
  if (state_ == State::greeting) {
    refuse(error.code, error.text);
  } else {
    disconnect(error.code, error.text);
  }
}

}  // namespace sheaf::store::server
