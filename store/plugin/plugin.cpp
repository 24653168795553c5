// The C interface of the plugin: version, init, cleanup, event callbacks. No exception leaves this
// file. Mosquitto makes all calls on its one thread.

#include <exception>
#include <expected>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/version.h>

#include "base/random.h"
#include "base/read_clocks.h"
#include "base/text.h"
#include "store/plugin/broker_api.h"
#include "store/plugin/broker_check.h"
#include "store/plugin/broker_host.h"
#include "store/plugin/broker_loop.h"
#include "store/plugin/properties.h"
#include "store/plugin/token_login.h"

#define SHEAF_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))

namespace sheaf::store::plugin {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

// One store per process: with per_listener_settings mosquitto runs init once for each listener.
struct Process {
  std::unique_ptr<BrokerHost> host;
  std::unique_ptr<TokenLogin> tokens;  // null: the broker alone decides who is let in
  Options options;
  unsigned users = 0;
};
Process process;

// Runs `body` and converts exceptions to a MOSQ_ERR_* code.
template <class Body>
int guarded(const char* where, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: out of memory in %s", where);
    return MOSQ_ERR_NOMEM;
  } catch (const std::exception& error) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: %s in %s", error.what(), where);
  } catch (...) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: unknown exception in %s", where);
  }
  return MOSQ_ERR_UNKNOWN;
}

int on_message(int, void* event, void*) {
  return guarded("message", [&] {
    return process.host->on_message(*static_cast<mosquitto_evt_message*>(event), read_clocks());
  });
}

int on_disconnect(int, void* event, void*) {
  return guarded("disconnect", [&] {
    const auto& end = *static_cast<mosquitto_evt_disconnect*>(event);
    if (process.tokens) process.tokens->forget(end.client);
    return process.host->on_disconnect(end);
  });
}

int on_tick(int, void* event, void*) {
  ask_for_next_tick(*static_cast<mosquitto_evt_tick*>(event));
  if (process.tokens) process.tokens->on_tick();
  return guarded("tick", [&] { return process.host->on_tick(read_clocks()); });
}

int on_reload(int, void*, void*) {
  if (process.tokens) process.tokens->on_reload();
  return guarded("reload", [&] { return process.host->on_reload(); });
}

int on_token(int, void* event, void*) {
  return guarded("login", [&] {
    return process.tokens->on_token(*static_cast<mosquitto_evt_extended_auth*>(event));
  });
}

int on_password(int, void* event, void*) {
  return guarded("login", [&] {
    return process.tokens->on_password(*static_cast<mosquitto_evt_basic_auth*>(event));
  });
}

struct Subscription {
  int event;
  MOSQ_FUNC_generic_callback callback;
  bool optional = false;     // not every broker has the event
  bool with_tokens = false;  // only with plugin_opt_tokens
};
// Never MOSQ_EVT_ACL_CHECK: on a broker without other access control a callback that defers denies
// every publish.
constexpr Subscription subscriptions[] = {{MOSQ_EVT_MESSAGE, on_message},
                                          {MOSQ_EVT_DISCONNECT, on_disconnect},
                                          {event_client_offline, on_disconnect, true},
                                          {MOSQ_EVT_TICK, on_tick},
                                          {MOSQ_EVT_RELOAD, on_reload},
                                          {MOSQ_EVT_EXT_AUTH_START, on_token, false, true},
                                          {MOSQ_EVT_BASIC_AUTH, on_password, false, true}};

std::string own_command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void log_start(const EngineOptions& options) {
  if (options.data.empty()) {
    mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: state store %s, in memory only", SHEAF_VERSION);
    return;
  }
  const bool acknowledged = options.durability.count() == 0;
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: state store %s, kept in %s, durability %s",
                       SHEAF_VERSION, options.data.c_str(),
                       acknowledged ? "acknowledged" : format_duration(options.durability).c_str());
}

// Options of the plugin only: an engine in a process has one user.
struct Files {
  std::string rights;
  std::string tokens;
};

std::expected<void, std::string> set_path(const char* name, std::string& to,
                                          const std::string& value) {
  if (value.empty()) {
    return std::unexpected(std::string(name) + " must be the path of a file, not \"\"");
  }
  to = value;
  return {};
}

std::expected<void, std::string> set_option(EngineOptions& engine, Files& files,
                                            const std::string& name, const std::string& value) {
  if (name == "rights") return set_path("rights", files.rights, value);
  if (name == "tokens") return set_path("tokens", files.tokens, value);
  return engine.set(name, value);
}

std::expected<void, std::string> load_files(const Files& files) {
  if (!files.tokens.empty()) {
    auto tokens = std::make_unique<TokenLogin>(files.tokens);
    if (auto fine = tokens->check(); !fine) return fine;
    process.tokens = std::move(tokens);
  }
  return process.host->load(read_clocks());
}

int start_host(const Options& options) {
  if (const auto fault = property_form_fault()) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: %s", fault->c_str());
    return MOSQ_ERR_NOT_SUPPORTED;
  }
  EngineOptions parsed;
  Files files;
  for (const auto& [name, value] : options) {
    if (const auto result = set_option(parsed, files, name, value); !result) {
      mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: %s", result.error().c_str());
      return MOSQ_ERR_INVAL;
    }
  }
  process.host = std::make_unique<BrokerHost>(parsed, files.rights, Random(entropy()).u64(),
                                              [] { return read_settings(own_command_line()); });
  if (const auto loaded = load_files(files); !loaded) {
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: %s", loaded.error().c_str());
    process.host.reset();
    process.tokens.reset();
    return MOSQ_ERR_INVAL;
  }
  process.options = options;
  log_start(parsed);
  if (!files.rights.empty()) {
    mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: rights loaded from %s", files.rights.c_str());
  }
  if (process.tokens) {
    mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: clients may log in with the tokens of %s",
                         files.tokens.c_str());
  }
  return MOSQ_ERR_SUCCESS;
}

int join_host(const Options& options) {
  if (!options.empty() && options != process.options) {
    mosquitto_log_printf(MOSQ_LOG_ERR,
                         "sheaf: the listeners of a broker share one state store, so their "
                         "plugin_opt lines must be the same");
    return MOSQ_ERR_INVAL;
  }
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "sheaf: listener %u shares the state store of the first",
                       process.users + 1);
  return MOSQ_ERR_SUCCESS;
}

int init(mosquitto_plugin_id_t* identifier, void** user_data, const mosquitto_opt* options,
         int count) {
  Options given;
  for (int i = 0; i < count; ++i) {
    given.emplace_back(options[i].key, options[i].value == nullptr ? "" : options[i].value);
  }
  int code = process.users == 0 ? start_host(given) : join_host(given);
  for (const Subscription& subscription : subscriptions) {
    if (code != MOSQ_ERR_SUCCESS) return code;
    // The broker reports a reload to every listener, but the file must be read only once.
    if (subscription.event == MOSQ_EVT_RELOAD && process.users > 0) continue;
    if (subscription.with_tokens && !process.tokens) continue;
    code = mosquitto_callback_register(identifier, subscription.event, subscription.callback,
                                       nullptr, nullptr);
    if (code == MOSQ_ERR_NOT_SUPPORTED && subscription.optional) code = MOSQ_ERR_SUCCESS;
  }
  if (code != MOSQ_ERR_SUCCESS) return code;
  *user_data = identifier;  // the only thing that cleanup gets
  ++process.users;
  return MOSQ_ERR_SUCCESS;
}

int cleanup(mosquitto_plugin_id_t* identifier) {
  if (identifier == nullptr) return MOSQ_ERR_SUCCESS;
  for (const Subscription& subscription : subscriptions) {
    mosquitto_callback_unregister(identifier, subscription.event, subscription.callback, nullptr);
  }
  if (--process.users > 0) return MOSQ_ERR_SUCCESS;
  process.host->log_counters("ends with");
  process.host.reset();
  process.tokens.reset();
  process.options.clear();
  return MOSQ_ERR_SUCCESS;
}

}  // namespace
}  // namespace sheaf::store::plugin

SHEAF_PLUGIN_EXPORT int mosquitto_plugin_version(int count, const int* versions) {
  return sheaf::store::plugin::guarded("load", [&] {
    const auto fault = sheaf::store::plugin::interface_fault(count, versions);
    if (!fault) return MOSQ_PLUGIN_VERSION;
    mosquitto_log_printf(MOSQ_LOG_ERR, "sheaf: %s", fault->c_str());
    return -1;
  });
}

SHEAF_PLUGIN_EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t* identifier, void** user_data,
                                              mosquitto_opt* options, int count) {
  namespace plugin = sheaf::store::plugin;
  return plugin::guarded("start",
                         [&] { return plugin::init(identifier, user_data, options, count); });
}

SHEAF_PLUGIN_EXPORT int mosquitto_plugin_cleanup(void* user_data, mosquitto_opt*, int) {
  namespace plugin = sheaf::store::plugin;
  return plugin::guarded(
      "end", [&] { return plugin::cleanup(static_cast<mosquitto_plugin_id_t*>(user_data)); });
}
