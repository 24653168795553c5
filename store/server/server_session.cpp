// Pure: no socket, clock, entropy, thread or callback.

#include "store/server/server_session.h"

#include <algorithm>
#include <utility>

#include "store/server/topic_filter.h"

namespace sheaf::store::server {

namespace mqtt5 = protocol::mqtt5;
using mqtt5::PropertyId;

namespace {

constexpr std::size_t first_read = 8 * 1024;  // most clients send little

}  // namespace

ServerSession::ServerSession(const SessionLimits& limits, Now now)
    : limits_(limits),
      now_(now),
      deadline_(now.mono + limits.connect_timeout),
      input_(limits.max_packet, first_read),
      window_(limits.max_waiting, limits.max_waiting_bytes) {}

// Inputs -----------------------------------------------------------------------------------------

std::span<std::byte> ServerSession::input_space() {
  if (state_ == State::leaving || state_ == State::ended || paused()) return {};
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
  // Any packet is a sign of life (section 3.1.2.10), and so are some bytes of one.
  if (state_ == State::open && keep_alive_.count() > 0) deadline_ = now.mono + keep_alive_;
}

void ServerSession::on_output(std::size_t size, Now now) {
  now_ = now;
  // A paused session takes no input; that the client reads is its sign of life.
  if (paused() && state_ == State::open && keep_alive_.count() > 0) {
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

}  // namespace sheaf::store::server
