#pragma once

// The store inside the broker: turns mosquitto's events into engine calls and the engine's answers
// and notifications into publishes to one client. docs/wire/mosquitto.md says
// what the broker can do.
//
// Thread rule: the broker's one thread. Members may throw (std::bad_alloc and the like); plugin.cpp
// keeps that on this side of the C boundary.

#include <mosquitto_broker.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "store/engine/engine.h"
#include "store/plugin/sink.h"

namespace sheaf::store::plugin {

class BrokerHost {
 public:
  BrokerHost(const EngineOptions& options, std::uint64_t seed, SinkState sink);

  // Each returns a MOSQ_ERR_* code for the broker.
  int on_message(mosquitto_evt_message& event, Now now);
  int on_disconnect(const mosquitto_evt_disconnect& event);
  int on_tick(Now now);

  // One line: what this store has done.
  void log_counters() const;

 private:
  int on_request(mosquitto_evt_message& event, Now now);
  ClientHandle identify(const mosquitto* client, const char* client_id);
  void forget(ClientHandle client);
  void reply(const char* client_id, const char* topic, const Request& request,
             const Answer& answer);
  void send_notifications();
  void warn_once_without_sink();

  Engine engine_;
  SinkState sink_;
  bool warned_ = false;
  // Connected clients that have sent a request. The handle is the broker's client pointer.
  std::unordered_map<ClientHandle, std::string> clients_;
  std::unordered_map<std::string, ClientHandle> handles_;
};

}  // namespace sheaf::store::plugin
