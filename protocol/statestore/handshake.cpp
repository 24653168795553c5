// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/handshake.h"

#include <algorithm>

#include "base/text.h"
#include "protocol/mqtt5/wire.h"
#include "protocol/statestore/acknowledgements.h"
#include "protocol/statestore/reason_codes.h"
#include "protocol/statestore/topics.h"

namespace sheaf::protocol::statestore {
namespace {

using mqtt5::PropertyId;
using mqtt5::PropertyWriter;
using mqtt5::ReasonCode;

// The largest packet that section 2.1.4 allows. We announce all of it: a broker silently drops
// larger packets, which would look like a time-out.
constexpr std::uint32_t longest_packet = mqtt5::max_varint + 5;
constexpr std::uint16_t subscribe_id = 65'535;   // never used by a request
constexpr std::size_t longest_properties = 16;   // in CONNECT, without those of the login
constexpr std::size_t longest_connect = 64;      // CONNECT without its texts
constexpr std::size_t longest_client_id = 4096;  // so that topics that contain it stay valid

std::uint16_t whole_seconds(std::chrono::milliseconds duration) noexcept {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(seconds, 1, 65'535));
}

}  // namespace

Handshake::Handshake(const StoreSessionOptions& options, Authentication& authentication,
                     ConnectionLife& life)
    : options_(options),
      authentication_(authentication),
      life_(life),
      agreement_{options.client_id, {}, longest_packet} {}

Handshake::~Handshake() {
  if (options_.exact_ids != nullptr) options_.exact_ids->give_back(life_);
}

// ---- CONNECT

bool Handshake::acceptable(const Login* login) const {
  const std::string& id = agreement_.client_id;
  const bool good = id.size() <= longest_client_id && mqtt5::is_mqtt_string(id);
  if (!good || login == nullptr) return good;
  const std::size_t longest = std::max({login->user.size(), login->password.view().size(),
                                        login->method.size(), login->token.view().size()});
  return longest <= mqtt5::max_string && mqtt5::is_mqtt_string(login->user) &&
         mqtt5::is_mqtt_string(login->method);
}

void Handshake::begin() {
  if (options_.exact_ids != nullptr) {
    agreement_.client_id = options_.exact_ids->take(options_.use, life_);
  }
  const Login* const login = authentication_.begin();
  if (!acceptable(login)) {
    return life_.end({Reason::bad_configuration,
                      "user name, password, authentication method, token or client ID is not an "
                      "MQTT string (UTF-8, at most 65535 bytes)",
                      true});
  }
  std::string raw;
  raw.reserve(longest_properties + size_of_properties(login));
  ByteWriter to_raw(raw);
  PropertyWriter properties(to_raw);
  properties.u16(PropertyId::receive_maximum, receive_maximum);
  properties.u32(PropertyId::maximum_packet_size, longest_packet);
  add_properties(properties, login);

  mqtt5::Connect connect;
  connect.clean_start = true;  // and no session expiry: the session ends with the connection
  connect.keep_alive = whole_seconds(options_.keep_alive);
  connect.properties.raw = raw;
  connect.client_id = agreement_.client_id;
  if (login != nullptr && !login->user.empty()) connect.user = login->user;
  if (login != nullptr && !login->password.empty()) connect.password = login->password.view();
  const auto size_of = [](const auto& text) { return text ? text->size() : 0; };
  life_.output().reserve(longest_connect + raw.size() + agreement_.client_id.size() +
                         size_of(connect.user) + size_of(connect.password));
  ByteWriter out(life_.output().buffer());
  connect.encode(out);
  wipe(raw);
  authentication_.sent(life_.output().end_secret());
}

// ---- CONNACK

Step Handshake::on_connack(const mqtt5::Frame& frame, std::string_view packet) {
  const auto connack = mqtt5::Connack::parse(frame, packet);
  if (!connack) return broken(life_, connack.error());
  if (is_error(connack->code)) {
    life_.end(excused_if_stale(
        {is_about_identity(connack->code) ? Reason::authentication : Reason::connect_failed,
         sentence("the server refused the connection", connack->code, connack->properties,
                  authentication_.login().get()),
         is_permanent(connack->code)},
        authentication_.login()));
    return Step::again;
  }
  if (!authentication_.accepts(connack->properties)) return Step::again;
  // Section 3.2.2.1.1: we asked for a clean start.
  if (connack->session_present) {
    return broken(life_, "the server resumed a session after a clean start",
                  ReasonCode::protocol_error);
  }
  if (!agree(connack->properties)) return Step::again;
  life_.accept();
  const std::size_t before = life_.output().size();
  subscribe();
  if (life_.output().size() - before > agreement_.packet_limit) {
    life_.end({Reason::connect_failed, "the server's Maximum Packet Size is too small to subscribe",
               true});
  }
  return Step::again;
}

bool Handshake::agree(const mqtt5::Properties& limits) {
  if (limits.maximum_qos == 0) {
    life_.end({Reason::connect_failed,
               "the server does not offer QoS 1, which the state store needs", true});
    return false;
  }
  if (limits.assigned_client_id) agreement_.client_id = *limits.assigned_client_id;
  const std::string& id = agreement_.client_id;
  if (id.size() > longest_client_id || !response_topic_allowed(id)) {
    broken(life_, "the server assigned a client ID that fits no topic", ReasonCode::protocol_error);
    return false;
  }
  if (limits.receive_maximum) agreement_.window = *limits.receive_maximum;
  if (limits.maximum_packet_size) agreement_.packet_limit = *limits.maximum_packet_size;
  if (limits.server_keep_alive.value_or(0) > 0) {
    life_.keep_alive().shorten(std::chrono::seconds(*limits.server_keep_alive));
  }
  return true;
}

// After CONNACK, because the server may have assigned another client ID.
void Handshake::subscribe() {
  const std::string& id = agreement_.client_id;
  agreement_.response_topic = response_topic(ResponseTopicForm::rust, id);
  std::string entries;
  ByteWriter to_entries(entries);
  mqtt5::Subscription{agreement_.response_topic, 1, false, false, 0}.encode(to_entries);
  const std::string notifications = notification_filter(id);
  mqtt5::Subscription{notifications, 1, false, false, 0}.encode(to_entries);
  mqtt5::Subscribe subscribe;
  subscribe.packet_id = subscribe_id;
  subscribe.entries = mqtt5::EntryList<mqtt5::Subscription>(entries);
  ByteWriter out(life_.output().buffer());
  subscribe.encode(out);
  life_.output().end();
}

// ---- SUBACK

Step Handshake::on_suback(const mqtt5::Frame& frame, std::string_view packet) {
  const auto suback = mqtt5::Suback::parse(frame, packet);
  if (!suback) return broken(life_, suback.error());
  if (suback->packet_id != subscribe_id || suback->codes.size() != 2) {
    return broken(life_, "SUBACK does not answer our SUBSCRIBE", ReasonCode::protocol_error);
  }
  const ReasonCode code = suback->code(0);
  if (is_error(code)) {
    const bool forbidden = code == ReasonCode::not_authorized;
    life_.end({forbidden ? Reason::not_authorized : Reason::connect_failed,
               sentence("the server refused the subscription to replies", code, suback->properties,
                        authentication_.login().get()),
               forbidden},
              disconnect_packet(ReasonCode::success));
    return Step::again;
  }
  agreement_.notifications = !is_error(suback->code(1));
  subscribed_ = true;
  return Step::again;
}

}  // namespace sheaf::protocol::statestore
