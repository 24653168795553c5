// Pure: no socket, clock, entropy, thread or callback.

#include "store/server/host.h"

#include <algorithm>
#include <utility>

#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"

namespace sheaf::store::server {

namespace mqtt5 = protocol::mqtt5;
namespace statestore = protocol::statestore;
namespace property = protocol::statestore::property;
using mqtt5::PropertyId;
using mqtt5::ReasonCode;

void Host::Connection::on_input(std::size_t size, Now now) {
  session_.on_input(size, now);
  host_.serve(*this, now);
}

void Host::Connection::on_output(std::size_t size, Now now) {
  session_.on_output(size, now);
  host_.serve(*this, now);  // it may have waited for room
}

void Host::Connection::on_eof(Now now) {
  session_.on_eof(now);
  host_.serve(*this, now);
}

Host::Host(HostOptions options)
    : options_(std::move(options)),
      admission_(options_.logins),
      engine_(options_.engine, options_.seed) {}
Host::~Host() = default;

Host::Connection* Host::connect(Now now) {
  if (connections_.size() >= options_.max_connections) return nullptr;
  const ClientHandle handle = next_handle_++;
  std::unique_ptr<Connection> made(new Connection(*this, handle, now));
  Connection& connection = *connections_.emplace(handle, std::move(made)).first->second;
  follow(connection);
  return &connection;
}

void Host::release(Connection& connection) {
  forget(connection);
  ready_.remove(connection);
  deadlines_.remove(connection);
  connections_.erase(connection.handle_);
}

Host::Connection* Host::poll_ready() { return ready_.pop_front(); }

void Host::follow(Connection& connection) {
  const Deadline due = connection.session_.poll_deadline().value_or(never);
  if (due != std::exchange(connection.due_, due)) {
    deadlines_.remove(connection);
    if (due != never) deadlines_.push(connection, due);
  }
  if (connection.session_.output().holding() && !std::exchange(connection.listed_, true)) {
    holding_.push_back(connection.handle_);
  }
  if (ready_.contains(connection)) return;
  if (!connection.closed() && connection.poll_output().empty()) return;
  ready_.push_back(connection);
}

void Host::tick(Now now) {
  engine_.tick(now);
  send_notifications();
  while (Connection* const connection = deadlines_.pop_due(now.mono)) {
    ++examined_;
    connection->due_ = never;
    connection->session_.on_deadline(now);
    serve(*connection, now);
  }
}

std::optional<Deadline> Host::next_deadline() const {
  const Deadline next = std::min(engine_.next_expiry().value_or(never), deadlines_.next());
  return next == never ? std::nullopt : std::optional(next);
}

void Host::serve(Connection& connection, Now now) {
  while (connection.session_.poll_event(event_)) {
    switch (event_.kind) {
      case ServerEvent::Kind::connect:
        on_connect(connection, event_.connect);
        break;
      case ServerEvent::Kind::authenticate:
        on_authenticate(connection, event_.authenticate);
        break;
      case ServerEvent::Kind::publish:
        on_publish(connection, event_.publish, now);
        break;
      case ServerEvent::Kind::ended:
        forget(connection);
        break;
    }
  }
  follow(connection);
}

void Host::seal() {
  for (const ClientHandle handle : holding_) {
    const auto found = connections_.find(handle);
    if (found != connections_.end()) found->second->session_.output().seal();
  }
}

template <class Release>
void Host::release_each(Release release) {
  for (const ClientHandle handle : std::exchange(holding_, {})) {
    const auto found = connections_.find(handle);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    connection.listed_ = false;
    release(connection.session_);
    follow(connection);
  }
}

void Host::release_sealed() {
  release_each([](ServerSession& session) { session.output().release_sealed(); });
}

void Host::release_all() {
  release_each([](ServerSession& session) { session.output().release(); });
}

void Host::abandon(std::string_view text) {
  for (const auto& [handle, connection] : connections_) {
    const bool open = connection->session_.open();
    connection->session_.abandon(text);
    if (!open) {
      follow(*connection);
      continue;
    }
    forget(*connection);
    follow(*connection);
  }
}

unsigned Host::forbid(const std::string& token) {
  unsigned ended = 0;
  admission_.forbid(token);
  for (const auto& [handle, connection] : connections_) {
    if (!connection->session_.open() || connection->token_ != token) continue;
    connection->session_.disconnect(ReasonCode::not_authorized, "the token is no longer accepted");
    forget(*connection);
    follow(*connection);
    ++ended;
  }
  return ended;
}

void Host::on_connect(Connection& connection, const mqtt5::Connect& connect) {
  const Admission::Refusal refusal = admission_.check(connect);
  if (refusal.code != ReasonCode::success)
    return connection.session_.refuse(refusal.code, refusal.text);
  connection.token_ = connect.properties.authentication_data.value_or(std::string_view{});
  std::string client_id(connect.client_id);
  if (client_id.empty()) {
    client_id = "sheaf-" + std::to_string(connection.handle_);
    while (clients_.contains(client_id)) client_id += '+';
  }
  if (const auto old = clients_.find(client_id); old != clients_.end()) {
    Connection& other = *old->second;
    other.session_.disconnect(ReasonCode::session_taken_over,
                              "another connection uses this client ID");
    forget(other);
    follow(other);
  }
  connection.session_.accept(connect.client_id.empty() ? client_id : "");
  if (connection.session_.open()) clients_.emplace(std::move(client_id), &connection);
}

void Host::on_authenticate(Connection& connection, const mqtt5::Auth& auth) {
  const Admission::Refusal refusal = admission_.check(auth.properties);
  if (refusal.code != ReasonCode::success)
    return connection.session_.disconnect(refusal.code, refusal.text);
  connection.token_ = auth.properties.authentication_data.value_or(std::string_view{});
  connection.session_.authenticated();
}

// Watches end with the connection. Safe to call twice.
void Host::forget(Connection& connection) {
  const auto found = clients_.find(connection.session_.client_id());
  if (found == clients_.end() || found->second != &connection) return;
  clients_.erase(found);
  engine_.disconnect(connection.handle_);
}

void Host::on_publish(Connection& connection, const mqtt5::Publish& publish, Now now) {
  if (publish.topic == statestore::request_topic || publish.topic == statestore::inspection_topic) {
    return on_request(connection, publish, now);
  }
  if (publish.qos == 0) return;
  // Only the store may publish in its tree: clients would take a forged notification for a change.
  const bool forged = statestore::in_notification_tree(publish.topic);
  connection.session_.acknowledge(
      publish.packet_id, forged ? ReasonCode::not_authorized : ReasonCode::no_matching_subscribers);
}

void Host::on_request(Connection& connection, const mqtt5::Publish& publish, Now now) {
  Request request;
  request.client = connection.handle_;
  request.client_id = connection.session_.client_id();
  request.qos = publish.qos;
  request.response_topic = publish.properties.response_topic;
  request.correlation = publish.properties.correlation_data;
  statestore::RequestProperties sent;
  for (const mqtt5::UserProperty& user : publish.properties.user())
    sent.take(user.name, user.value);
  request.timestamp = sent.timestamp;
  request.fencing_token = sent.fencing_token;
  request.persist = sent.persist();
  request.payload = publish.payload;

  const Answer result =
      publish.topic == statestore::request_topic
          ? engine_.execute(request, now)
          : engine_.inspect(request, {.clients = clients_.size(), .file = file_}, now);
  if (result.verdict == Verdict::disconnect) {
    return connection.session_.disconnect(ReasonCode::protocol_error,
                                          "the response topic is not allowed");
  }
  // 0x00, not "no matching subscribers": the official .NET client fails a call on any other code.
  if (publish.qos == 1) connection.session_.acknowledge(publish.packet_id, ReasonCode::success);
  if (result.verdict == Verdict::answer) answer(connection, request, result);
  send_notifications();
}

void Host::answer(Connection& connection, const Request& request, const Answer& answer) {
  properties_.clear();
  ByteWriter writer(properties_);
  mqtt5::PropertyWriter properties(writer);
  properties.text(PropertyId::content_type, statestore::content_type);
  if (request.correlation) properties.text(PropertyId::correlation_data, *request.correlation);
  properties.user(property::status,
                  statestore::status_ok);  // also for errors: they are in the payload
  properties.user(property::protocol_version, statestore::protocol_version);
  properties.user(property::source_id, statestore::store_node);
  if (!answer.timestamp.empty()) properties.user(property::timestamp, answer.timestamp);
  deliver(connection, *request.response_topic, answer.payload, 1);
}

void Host::send_notifications() {
  Notification notification;
  while (engine_.poll_notification(notification)) {
    const auto found = connections_.find(notification.client);
    if (found == connections_.end()) continue;
    Connection& connection = *found->second;
    const bool push = options_.engine.notify == NotifyMode::push;
    const std::optional<std::uint8_t> granted =
        push ? 1 : connection.session_.subscription(notification.topic);
    if (!granted) continue;
    properties_.clear();
    ByteWriter writer(properties_);
    mqtt5::PropertyWriter properties(writer);
    properties.text(PropertyId::content_type, statestore::content_type);
    properties.user(property::protocol_version, statestore::protocol_version);
    properties.user(property::source_id, statestore::store_node);
    properties.user(property::timestamp, notification.timestamp);
    deliver(connection, notification.topic, notification.payload, *granted);
  }
}

void Host::deliver(Connection& connection, std::string_view topic, std::string_view payload,
                   std::uint8_t qos) {
  mqtt5::Publish message;
  message.topic = topic;
  message.qos = qos;
  message.properties.raw = properties_;
  message.payload = payload;
  const ServerSession::Delivery delivery = connection.session_.publish(message);
  if (delivery != ServerSession::Delivery::queued) ++discarded_;
  if (delivery == ServerSession::Delivery::cut_off) forget(connection);
  follow(connection);
}

}  // namespace sheaf::store::server
