// A mosquitto plugin for tests: clients log in by enhanced authentication (MQTT 5, section 4.12)
// with the method K8S-SAT, whose token is a line of the file `plugin_opt_tokens`. The file is read
// at each log-in and re-authentication. Clients without a method are refused. With
// `plugin_opt_continue true` a token counts only when it comes a second time.
//
// The broker's log says which client was accepted with which token: "tokens: CLIENT showed TOKEN".
// The tokens are only for tests.

#include <mosquitto.h>
#if !__has_include(<mosquitto/broker_plugin.h>)  // 2.0; in 2.1 the header above has all of it
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#endif

#include <fstream>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view method = "K8S-SAT";

struct Settings {
  mosquitto_plugin_id_t* plugin = nullptr;
  std::string file;
  bool asks_twice = false;
};

bool is_valid(const Settings& settings, std::string_view token) {
  std::ifstream lines(settings.file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line == token) return true;
  }
  return false;
}

int decide(const Settings& settings, mosquitto_evt_extended_auth& event) {
  const std::string token(static_cast<const char*>(event.data_in), event.data_in_len);
  const bool valid = is_valid(settings, token);
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "tokens: %s %s %s", mosquitto_client_id(event.client),
                       valid ? "showed" : "was refused with", token.c_str());
  return valid ? MOSQ_ERR_SUCCESS : MOSQ_ERR_AUTH;
}

int on_start(int, void* data, void* settings_data) {
  const Settings& settings = *static_cast<Settings*>(settings_data);
  auto& event = *static_cast<mosquitto_evt_extended_auth*>(data);
  if (event.auth_method == nullptr || event.auth_method != method) return MOSQ_ERR_NOT_SUPPORTED;
  const int decided = decide(settings, event);
  return decided == MOSQ_ERR_SUCCESS && settings.asks_twice ? MOSQ_ERR_AUTH_CONTINUE : decided;
}

// The broker has compared the method and does not pass it again.
int on_continue(int, void* data, void* settings) {
  return decide(*static_cast<Settings*>(settings),
                *static_cast<mosquitto_evt_extended_auth*>(data));
}

int on_password(int, void*, void*) { return MOSQ_ERR_AUTH; }

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int mosquitto_plugin_version(int count, const int* versions) {
  for (int i = 0; i < count; ++i) {
    if (versions[i] == MOSQ_PLUGIN_VERSION) return MOSQ_PLUGIN_VERSION;
  }
  return -1;
}

[[gnu::visibility("default")]] int mosquitto_plugin_init(mosquitto_plugin_id_t* plugin,
                                                         void** user_data, mosquitto_opt* options,
                                                         int count) {
  auto* const settings = new Settings;
  settings->plugin = plugin;
  for (int i = 0; i < count; ++i) {
    const std::string_view name = options[i].key;
    if (name == "tokens") settings->file = options[i].value;
    if (name == "continue") settings->asks_twice = std::string_view(options[i].value) == "true";
  }
  *user_data = settings;
  mosquitto_callback_register(plugin, MOSQ_EVT_EXT_AUTH_START, on_start, nullptr, settings);
  mosquitto_callback_register(plugin, MOSQ_EVT_EXT_AUTH_CONTINUE, on_continue, nullptr, settings);
  return mosquitto_callback_register(plugin, MOSQ_EVT_BASIC_AUTH, on_password, nullptr, settings);
}

[[gnu::visibility("default")]] int mosquitto_plugin_cleanup(void* user_data, mosquitto_opt*, int) {
  auto* const settings = static_cast<Settings*>(user_data);
  mosquitto_callback_unregister(settings->plugin, MOSQ_EVT_EXT_AUTH_START, on_start, nullptr);
  mosquitto_callback_unregister(settings->plugin, MOSQ_EVT_EXT_AUTH_CONTINUE, on_continue, nullptr);
  mosquitto_callback_unregister(settings->plugin, MOSQ_EVT_BASIC_AUTH, on_password, nullptr);
  delete settings;
  return MOSQ_ERR_SUCCESS;
}

}  // extern "C"
