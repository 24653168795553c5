// A plugin of mosquitto for tests: the plugin of the product. If there is a file "forget" in the
// broker's folder when the broker is told to reload (SIGHUP), the product starts again with an
// empty store, and the file is gone. So many tests can use one broker.
//
// CMake sets SHEAF_TEST_PLUGIN, the path of the product's plugin.

#include <dlfcn.h>
#include <mosquitto.h>
#if !__has_include(<mosquitto/broker_plugin.h>)  // 2.0; 2.1 has all of it in the header above
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#endif
#include <unistd.h>

#include <string>
#include <vector>

namespace {

struct Product {
  decltype(&mosquitto_plugin_version) version = nullptr;
  decltype(&mosquitto_plugin_init) init = nullptr;
  decltype(&mosquitto_plugin_cleanup) cleanup = nullptr;
};

// The library stays loaded, so that a sanitizer can name its functions at the end.
const Product& product() {
  static const Product loaded = [] {
    Product found;
    void* const library = dlopen(SHEAF_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      mosquitto_log_printf(MOSQ_LOG_ERR, "forgetting: %s", dlerror());
      return found;
    }
    const auto find = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    };
    find("mosquitto_plugin_version", found.version);
    find("mosquitto_plugin_init", found.init);
    find("mosquitto_plugin_cleanup", found.cleanup);
    return found;
  }();
  return loaded;
}

// The options as the broker gave them: it frees them after the start.
struct Instance {
  mosquitto_plugin_id_t* plugin = nullptr;
  std::vector<std::string> texts;  // names and values in turn
  void* product_data = nullptr;

  int start() {
    std::vector<mosquitto_opt> options;
    for (std::size_t i = 0; i < texts.size(); i += 2) {
      options.push_back({texts[i].data(), texts[i + 1].data()});
    }
    return product().init(plugin, &product_data, options.data(), static_cast<int>(options.size()));
  }
};

int restart(Instance& instance) {
  product().cleanup(instance.product_data, nullptr, 0);
  mosquitto_log_printf(MOSQ_LOG_NOTICE, "forgetting: the old store has ended");
  const int code = instance.start();
  if (code == MOSQ_ERR_SUCCESS) mosquitto_log_printf(MOSQ_LOG_NOTICE, "forgetting: empty");
  return code;
}

// A restart replaces the product's callbacks while the broker goes through the list of them.
// Mosquitto 2.0 looks at the next one afterwards. Mosquitto 2.1 has looked before, so there only
// the last callback may restart.
bool looks_ahead() {
  static const bool found = dlsym(RTLD_DEFAULT, "mosquitto_broker_node_id_set") != nullptr;
  return found;
}

int on_reload(int, void*, void* data) {
  // The product's own callback reloads. 2.0.11 would not call it after a success.
  if (::unlink("forget") != 0) return looks_ahead() ? MOSQ_ERR_SUCCESS : MOSQ_ERR_PLUGIN_DEFER;
  auto& instance = *static_cast<Instance*>(data);
  const int code = restart(instance);
  if (code != MOSQ_ERR_SUCCESS || !looks_ahead()) return code;
  mosquitto_callback_unregister(instance.plugin, MOSQ_EVT_RELOAD, on_reload, nullptr);
  return mosquitto_callback_register(instance.plugin, MOSQ_EVT_RELOAD, on_reload, nullptr, data);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int mosquitto_plugin_version(int count, const int* versions) {
  return product().version == nullptr ? -1 : product().version(count, versions);
}

[[gnu::visibility("default")]] int mosquitto_plugin_init(mosquitto_plugin_id_t* plugin,
                                                         void** user_data, mosquitto_opt* options,
                                                         int count) {
  auto* const instance = new Instance;
  instance->plugin = plugin;
  for (int i = 0; i < count; ++i) {
    instance->texts.emplace_back(options[i].key);
    instance->texts.emplace_back(options[i].value);
  }
  *user_data = instance;
  const auto listen = [&] {
    return mosquitto_callback_register(plugin, MOSQ_EVT_RELOAD, on_reload, nullptr, instance);
  };
  int code = looks_ahead() ? instance->start() : listen();
  if (code == MOSQ_ERR_SUCCESS) code = looks_ahead() ? listen() : instance->start();
  return code;
}

[[gnu::visibility("default")]] int mosquitto_plugin_cleanup(void* user_data, mosquitto_opt*, int) {
  auto* const instance = static_cast<Instance*>(user_data);
  mosquitto_callback_unregister(instance->plugin, MOSQ_EVT_RELOAD, on_reload, nullptr);
  const int code = product().cleanup(instance->product_data, nullptr, 0);
  delete instance;
  return code;
}

}  // extern "C"
