#pragma once

// The store inside the broker: turns mosquitto's events into engine calls, and the engine's answers
// and notifications into publishes to one client. docs/wire/mosquitto.md describes what the broker
// can do.
//
// Thread rule: the broker's one thread. Members may throw (std::bad_alloc and the like); plugin.cpp
// keeps exceptions on this side of the C boundary.

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "store/durable/saver.h"
#include "store/engine/engine.h"
#include "store/plugin/broker_api.h"
#include "store/plugin/broker_loop.h"
#include "store/plugin/gatekeeper.h"
#include "store/plugin/held_answers.h"
#include "store/plugin/sink.h"

namespace sheaf::store::plugin {

class BrokerHost {
 public:
  // `rights`: the path of the rights file, or empty. `read_settings` reads the broker's
  // configuration, now and after each reload.
  BrokerHost(const EngineOptions& options, std::string rights, std::uint64_t seed,
             std::function<BrokerSettings()> read_settings);
  // Loads the files that the options name. Call it before the first event. The error is one
  // sentence.
  std::expected<void, std::string> load(Now now);

  // Each returns a MOSQ_ERR_* code for the broker.
  int on_message(mosquitto_evt_message& event, Now now);
  int on_disconnect(const mosquitto_evt_disconnect& event);
  int on_tick(Now now);
  // The broker reloads its configuration, so the rights file is read again.
  int on_reload();

  // Logs what this store has done. `verb`: "ends with", "has".
  void log_counters(const char* verb) const;

 private:
  // A request, or an inspection.
  int on_request(mosquitto_evt_message& event, Now now);
  HostNumbers own_numbers() const;
  void publish_numbers(Now now);
  void take_settings();
  ClientHandle identify(const mosquitto* client, const char* client_id);
  void forget(ClientHandle client);
  // Ends the connections of clients that watch keys they may no longer watch.
  void end_forbidden_watches();
  // After a request: true if its answer, and what was held back before it, may be sent now.
  bool settle_request(Now now);
  // Publishes an answer, or holds it back until the file has what it says.
  void tell(const Request& request, const Answer& answer, Now now);
  // Sends what may be sent now: held answers, then notifications.
  void settle(Now now, bool more);
  void publish_held();
  void log_trouble();
  void reply(const char* client_id, const char* topic, std::optional<std::string_view> correlation,
             const Answer& answer);
  void send_notifications();
  void warn_once_without_sink();
  void subscribe_sink_again();

  Engine engine_;
  Gatekeeper gatekeeper_;
  std::unique_ptr<Saver> saver_;  // null: in memory only
  HeldAnswers held_;
  BrokerLoop loop_;
  bool committed_in_turn_ = false;  // by a request, since the last tick
  std::string trouble_;             // as logged
  std::function<BrokerSettings()> read_settings_;
  Sink sink_;
  std::chrono::seconds sys_interval_{0};
  ChangedNumbers published_;
  Deadline next_numbers_{0};
  bool reloaded_ = false;  // since the last tick
  bool warned_ = false;
  // Connected clients that have sent a request. The handle is the broker's client pointer.
  std::unordered_map<ClientHandle, std::string> clients_;
  std::unordered_map<std::string, ClientHandle> handles_;
};

}  // namespace sheaf::store::plugin
