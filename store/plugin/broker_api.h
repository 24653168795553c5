#pragma once

// Mosquitto's plugin interface, from the headers of 2.0 or of 2.1, and the list of the functions
// that the plugin imports from the broker.
//
// Each of them is a weak reference: a broker that lacks one still loads the module, which then
// reports what is missing and refuses to start (broker_check.h). tests/live/plugin/broker_symbols
// lists what each supported broker exports. 2.0.15 to 2.0.21 export neither the functions that read
// properties nor mosquitto_strerror.
//
// Thread rule: the broker's one thread.

#include <cstdint>

#if __has_include(<mosquitto/broker_plugin.h>)  // 2.1: its old names cause warnings
#include <mosquitto.h>
#else
#include <mosquitto.h>
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#include <mqtt_protocol.h>
#endif

namespace sheaf::store::plugin {

// The end of a sentence that refuses a broker.
inline constexpr char needed_broker[] = "; the state store needs Mosquitto 2.0.11 to 2.1";

// MOSQ_EVT_CLIENT_OFFLINE of 2.1: a client's connection ends, but its session continues. 2.0, whose
// headers lack the name, reports every end of a connection as MOSQ_EVT_DISCONNECT. The event's data
// begins like mosquitto_evt_disconnect.
inline constexpr int event_client_offline = 28;

// mosquitto_subscription of 2.1, which the headers of 2.0 lack.
struct BrokerSubscription {
  char* client_id;
  char* topic_filter;
  mosquitto_property* properties;
  std::uint32_t identifier;
  std::uint8_t options;
  std::uint8_t padding[3];
  void* future[8];
};

}  // namespace sheaf::store::plugin

// From 2.1; null in a broker of 2.0. Declared under our own name so that it works with both
// headers.
extern "C" int sheaf_subscription_add(const sheaf::store::plugin::BrokerSubscription*
                                          subscription) __asm__("mosquitto_subscription_add")
    __attribute__((weak));

// clang-format off
#define SHEAF_BROKER_FUNCTIONS(each)       \
  each(mosquitto_broker_publish)           \
  each(mosquitto_callback_register)        \
  each(mosquitto_callback_unregister)      \
  each(mosquitto_client_id)                \
  each(mosquitto_client_username)          \
  each(mosquitto_free)                     \
  each(mosquitto_kick_client_by_clientid)  \
  each(mosquitto_log_printf)               \
  each(mosquitto_malloc)                   \
  each(mosquitto_property_add_binary)      \
  each(mosquitto_property_add_string)      \
  each(mosquitto_property_add_string_pair) \
  each(mosquitto_property_free_all)
// clang-format on

#define SHEAF_PRAGMA(text) _Pragma(#text)
#define SHEAF_WEAK(name) SHEAF_PRAGMA(weak name)
SHEAF_BROKER_FUNCTIONS(SHEAF_WEAK)
#undef SHEAF_WEAK
#undef SHEAF_PRAGMA
