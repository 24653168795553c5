#include "store/plugin/broker_host.h"

#include <limits.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "protocol/statestore/properties.h"
#include "protocol/statestore/topics.h"
#include "store/plugin/properties.h"

namespace sheaf::store::plugin {

namespace statestore = protocol::statestore;
namespace property = protocol::statestore::property;

namespace {

ClientHandle handle_of(const mosquitto* client) {
  return static_cast<ClientHandle>(reinterpret_cast<std::uintptr_t>(client));
}

struct Destination {
  const char* topic = nullptr;
  const char* client_id = nullptr;  // null: to all subscribers of the topic
  int qos = 1;
  bool retain = false;
};

// The broker owns payload and properties afterwards.
void publish(const Destination& to, std::string_view payload, PropertyList& properties) {
  char* copy = nullptr;
  if (!payload.empty()) {
    copy = static_cast<char*>(mosquitto_malloc(payload.size()));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, payload.data(), payload.size());
  }
  const int code =
      mosquitto_broker_publish(to.client_id, to.topic, static_cast<int>(payload.size()), copy,
                               to.qos, to.retain, properties.get());
  if (code == MOSQ_ERR_SUCCESS) return properties.release();
  mosquitto_free(copy);
  if (code == MOSQ_ERR_NOMEM) throw std::bad_alloc();
  mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: the broker refused a publish to '%s' with error %d",
                       to.topic, code);
}

static_assert(sink_topic.size() <= statestore::request_topic.size() &&
              sink_topic.size() <= statestore::inspection_topic.size());

// Routes an executed request to the sink, without its content. So a subscriber of the sink learns
// nothing, and no retained request reveals its value to later subscribers. Topic and properties are
// changed in place, because releases of the broker differ in who frees what a callback replaces;
// all of them free a replaced payload.
void send_to_sink(mosquitto_evt_message& event) {
  sink_topic.copy(event.topic, sink_topic.size());
  event.topic[sink_topic.size()] = '\0';
  event.payload = nullptr;
  event.payloadlen = 0;
  empty_properties(event.properties);
  event.retain = false;
}

}  // namespace

BrokerHost::BrokerHost(const EngineOptions& options, std::string rights, std::uint64_t seed,
                       std::function<BrokerSettings()> read_settings)
    : engine_(options, seed),
      gatekeeper_(std::move(rights), seed),
      read_settings_(std::move(read_settings)) {
  take_settings();
}

void BrokerHost::take_settings() {
  BrokerSettings settings = read_settings_();
  sink_ = std::move(settings.sink);
  sys_interval_ = settings.sys_interval;
  next_numbers_ = Deadline{0};
}

std::expected<void, std::string> BrokerHost::load(Now now) {
  if (auto loaded = gatekeeper_.load(); !loaded) return loaded;
  if (AccountNames* const accounts = gatekeeper_.accounts())
    engine_.journal().set_accounts(*accounts);
  auto saver = open_saver(engine_.options(), 0, engine_, now);
  if (!saver) return std::unexpected(std::move(saver.error()));
  saver_ = std::move(*saver);
  return {};
}

int BrokerHost::on_message(mosquitto_evt_message& event, Now now) {
  const std::string_view topic = event.topic;
  if (topic == statestore::request_topic || topic == statestore::inspection_topic) {
    return on_request(event, now);
  }
  // Only the store may publish in its tree: clients would take a forged notification for a change.
  if (statestore::in_notification_tree(topic)) return MOSQ_ERR_ACL_DENIED;
  return MOSQ_ERR_SUCCESS;
}

int BrokerHost::on_request(mosquitto_evt_message& event, Now now) {
  const char* const client_id = mosquitto_client_id(event.client);
  if (client_id == nullptr) return MOSQ_ERR_PROTOCOL;
  const RequestProperties properties(event.properties);

  Request request;
  request.client = identify(event.client, client_id);
  request.client_id = client_id;
  request.qos = event.qos;
  request.response_topic = properties.response_topic;
  request.correlation = properties.correlation;
  request.timestamp = properties.timestamp;
  request.fencing_token = properties.fencing_token;
  request.persist = properties.persist();
  request.payload = {static_cast<const char*>(event.payload), event.payloadlen};

  const bool inspects = event.topic == statestore::inspection_topic;
  const auto asked = inspects ? Gatekeeper::Asked::inspection : Gatekeeper::Asked::request;
  gatekeeper_.decide(request, asked, mosquitto_client_username(event.client), now);
  const Answer answer =
      inspects ? engine_.inspect(request, own_numbers(), now) : engine_.execute(request, now);
  if (answer.verdict == Verdict::disconnect) return MOSQ_ERR_PROTOCOL;
  if (event.qos == 1) warn_once_without_sink();
  if (answer.verdict == Verdict::answer) tell(request, answer, now);
  send_to_sink(event);
  return MOSQ_ERR_SUCCESS;
}

HostNumbers BrokerHost::own_numbers() const {
  return {.clients = clients_.size(), .file = saver_.get()};
}

// At the interval at which the broker publishes its own numbers.
void BrokerHost::publish_numbers(Now now) {
  if (sys_interval_.count() == 0 || now.mono < next_numbers_) return;
  next_numbers_ = now.mono + sys_interval_;
  for (const Number& number : published_.take(engine_.numbers(own_numbers()))) {
    const std::string topic = std::string(numbers_root).append(number.name);
    PropertyList none;
    publish({.topic = topic.c_str(), .qos = 0, .retain = true}, std::to_string(number.value), none);
  }
}

int BrokerHost::on_disconnect(const mosquitto_evt_disconnect& event) {
  forget(handle_of(event.client));  // by pointer: the client ID may already be null
  return MOSQ_ERR_SUCCESS;
}

int BrokerHost::on_tick(Now now) {
  if (std::exchange(reloaded_, false)) subscribe_sink_again();
  engine_.tick(now);
  gatekeeper_.tick(engine_, now);
  committed_in_turn_ = false;
  settle(now, saver_ != nullptr && loop_.busy());
  publish_numbers(now);
  return MOSQ_ERR_SUCCESS;
}

int BrokerHost::on_reload() {
  log_counters("has");
  take_settings();
  reloaded_ = true;
  if (!gatekeeper_.has_file()) return MOSQ_ERR_SUCCESS;
  if (const auto loaded = gatekeeper_.load(); !loaded) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: the rights are unchanged, because %s",
                         loaded.error().c_str());
    return MOSQ_ERR_SUCCESS;
  }
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: rights reloaded from %s",
                       gatekeeper_.path().c_str());
  end_forbidden_watches();
  return MOSQ_ERR_SUCCESS;
}

// If such a watch just fell silent, its client would believe that the key does not change.
void BrokerHost::end_forbidden_watches() {
  std::vector<std::pair<ClientHandle, std::string>> ended;
  for (const auto& [handle, client_id] : clients_) {
    for (const std::string& key : engine_.watched_by(handle)) {
      if (gatekeeper_.may_watch(handle, key)) continue;
      ended.emplace_back(handle, client_id);
      break;
    }
  }
  for (const auto& [handle, client_id] : ended) {
    mosquitto_log_printf(
        MOSQ_LOG_NOTICE,
        "sheaf: client \"%s\" watches keys that it may no longer watch: its connection is closed",
        printable(client_id).c_str());
    forget(handle);  // at once, whatever the broker does
    mosquitto_kick_client_by_clientid(client_id.c_str(), true);
  }
}

ClientHandle BrokerHost::identify(const mosquitto* client, const char* client_id) {
  const ClientHandle handle = handle_of(client);
  const auto known = clients_.find(handle);
  if (known != clients_.end()) {
    if (known->second == client_id) return handle;
    forget(handle);  // the client that had this address ended without an event
  }
  const auto old = handles_.find(client_id);
  if (old != handles_.end()) forget(old->second);  // a takeover without an event
  clients_.emplace(handle, client_id);
  handles_.emplace(client_id, handle);
  return handle;
}

void BrokerHost::forget(ClientHandle client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  engine_.disconnect(client);
  gatekeeper_.forget(client);
  handles_.erase(found->second);
  clients_.erase(found);
}

// Mosquitto 2.0 ticks at the end of a turn and then sends what was published. 2.1 ticks at the
// start of a turn and then waits for packets, up to 1 ms if something was published. So the last
// available request commits, not the tick. 2.1 also reads ahead, which the kernel cannot show.
// Therefore after a commit the later requests of the same turn wait for the tick.
bool BrokerHost::settle_request(Now now) {
  if (saver_ == nullptr) return true;
  const std::uint64_t commits = saver_->commits();
  const bool told = saver_->settle(now, !held_.full() && (committed_in_turn_ || loop_.busy()));
  committed_in_turn_ = committed_in_turn_ || saver_->commits() != commits;
  return told;
}

void BrokerHost::tell(const Request& request, const Answer& answer, Now now) {
  const char* const client_id = request.client_id.data();  // ends with a NUL, as topics do
  const char* const topic = request.response_topic->data();
  if (settle_request(now)) {
    log_trouble();
    publish_held();
    reply(client_id, topic, request.correlation, answer);
    return send_notifications();
  }
  HeldAnswer held{client_id, topic, {}, std::string(answer.payload), std::string(answer.timestamp)};
  if (request.correlation) held.correlation = *request.correlation;
  held_.add(std::move(held));
  log_trouble();
}

void BrokerHost::settle(Now now, bool more) {
  const bool told = saver_ == nullptr || saver_->settle(now, more && !held_.full());
  log_trouble();
  if (!told) return;
  publish_held();
  send_notifications();
}

// While the file cannot be written, neither these nor notifications may be sent: the file lacks
// them.
void BrokerHost::publish_held() {
  if (saver_ != nullptr && saver_->frozen()) return;
  while (!held_.empty()) {
    const HeldAnswer held = held_.take();
    reply(held.client_id.c_str(), held.topic.c_str(), held.correlation,
          {.verdict = Verdict::answer, .payload = held.payload, .timestamp = held.timestamp});
  }
}

// Logs once when the store becomes read-only, and once when that is over.
void BrokerHost::log_trouble() {
  if (saver_ == nullptr || saver_->trouble().empty() == trouble_.empty()) return;
  trouble_ = saver_->trouble();
  if (trouble_.empty()) {
    mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: the store can write its file again");
  } else {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: the store is read-only: %s", trouble_.c_str());
  }
}

void BrokerHost::reply(const char* client_id, const char* topic,
                       std::optional<std::string_view> correlation, const Answer& answer) {
  PropertyList properties;
  properties.add_content_type(statestore::content_type);
  if (correlation) properties.add_correlation(*correlation);
  properties.add_user(property::status,
                      statestore::status_ok);  // also for errors: they are in the payload
  properties.add_user(property::protocol_version, statestore::protocol_version);
  properties.add_user(property::source_id, statestore::store_node);
  if (!answer.timestamp.empty()) {
    properties.add_user(property::timestamp, answer.timestamp);
  }
  publish({.topic = topic, .client_id = client_id}, answer.payload, properties);
}

void BrokerHost::send_notifications() {
  if (saver_ != nullptr && saver_->frozen()) return;
  Notification notification;
  while (engine_.poll_notification(notification)) {
    const auto client = clients_.find(notification.client);
    if (client == clients_.end()) continue;
    PropertyList properties;
    properties.add_content_type(statestore::content_type);
    properties.add_user(property::protocol_version, statestore::protocol_version);
    properties.add_user(property::source_id, statestore::store_node);
    properties.add_user(property::timestamp, notification.timestamp);
    const bool push = engine_.options().notify == NotifyMode::push;
    publish(
        {.topic = notification.topic.c_str(), .client_id = push ? client->second.c_str() : nullptr},
        notification.payload, properties);
  }
}

void BrokerHost::warn_once_without_sink() {
  if (warned_ || sink_.state == SinkState::declared) return;
  warned_ = true;
  const char* const known = sink_.state == SinkState::missing
                                ? "the configuration has no bridge for"
                                : "the configuration cannot be read to see if it has a bridge for";
  mosquitto_log_printf(
      MOSQ_LOG_WARNING,
      "sheaf: %s the topic %s. Without one, requests are acknowledged with reason 0x10 (no "
      "matching subscribers), which some clients take for a failure, the official .NET client "
      "among them. "
      "The lines to add are in docs/wire/mosquitto.md.",
      known, std::string(sink_topic).c_str());
}

// 2.1 replaces its bridges after a reload, and a bridge that never connects does not subscribe
// again by itself. This tick comes between that and the next request.
void BrokerHost::subscribe_sink_again() {
  if (sheaf_subscription_add == nullptr || sink_.state != SinkState::declared) return;
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof host - 1);
  std::string client_id = sink_.bridge.client_id(host);
  std::string topic(sink_topic);
  BrokerSubscription subscription{};
  subscription.client_id = client_id.data();
  subscription.topic_filter = topic.data();
  subscription.options = MQTT_SUB_OPT_NO_LOCAL | MQTT_SUB_OPT_RETAIN_AS_PUBLISHED;  // QoS 0
  const int code = sheaf_subscription_add(&subscription);
  if (code == MOSQ_ERR_SUCCESS || code == MOSQ_ERR_SUB_EXISTS) return;
  mosquitto_log_printf(MOSQ_LOG_WARNING,
                       "sheaf: the bridge %s could not be subscribed to the topic %s again after a "
                       "reload (error %d): until the broker is restarted, requests are "
                       "acknowledged with reason 0x10 (no matching subscribers)",
                       client_id.c_str(), topic.c_str(), code);
}

void BrokerHost::log_counters(const char* verb) const {
  const EngineCounters& counters = engine_.counters();
  using Number = unsigned long long;
  mosquitto_log_printf(
      MOSQ_LOG_NOTICE,
      "sheaf: state store %s %llu keys in %llu bytes; requests %llu, writes %llu, "
      "duplicates %llu, errors %llu (not authorized %llu, over quota %llu), dropped %llu, "
      "forbidden %llu, expired %llu, notifications %llu",
      verb, static_cast<Number>(engine_.keys()), static_cast<Number>(engine_.bytes()),
      static_cast<Number>(counters.requests), static_cast<Number>(counters.executed_writes),
      static_cast<Number>(counters.duplicates), static_cast<Number>(counters.errors),
      static_cast<Number>(counters.unauthorized), static_cast<Number>(counters.over_quota),
      static_cast<Number>(counters.dropped), static_cast<Number>(counters.forbidden),
      static_cast<Number>(counters.expired), static_cast<Number>(counters.notifications));
  if (saver_ == nullptr) return;
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: its file was written in %llu commits",
                       static_cast<Number>(saver_->commits()));
}

}  // namespace sheaf::store::plugin
