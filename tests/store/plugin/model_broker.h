#pragma once

// As much of Mosquitto as its plugin sees, inside a test. It loads a plugin, hands messages to it,
// and records every allocation, so that memory that is freed twice or never is detected at once.
// Differences between releases of the broker are options.
//
// Thread rule: one thread; one ModelBroker at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/plugin/broker_api.h"

namespace sheaf::test {

// Which side frees the topic and the properties that a callback has replaced. Every release frees a
// replaced payload.
enum class Replaced : std::uint8_t {
  left_alone,      // up to 2.0.14
  freed_by_broker  // from 2.0.15 on
};

struct ModelOptions {
  Replaced replaced = Replaced::freed_by_broker;
  bool other_form = false;     // property nodes differ from Mosquitto's
  bool null_if_empty = false;  // an empty text has no memory, as in 2.1
  bool offline_event = false;  // 2.1: MOSQ_EVT_CLIENT_OFFLINE can be registered
  std::vector<std::pair<std::string, std::string>> plugin_options{};  // plugin_opt_NAME VALUE
};

struct Property {
  int identifier = 0;
  std::string value;
  std::string name;  // of a user property
  bool operator==(const Property&) const = default;
};

struct ModelMessage {
  std::string topic;
  std::string payload;
  std::vector<Property> properties;
  std::uint8_t qos = 1;
  bool retain = false;
};

class ModelBroker {
 public:
  explicit ModelBroker(ModelOptions options);
  ~ModelBroker();
  ModelBroker(const ModelBroker&) = delete;
  ModelBroker& operator=(const ModelBroker&) = delete;

  // Loads a module and starts it. Returns the result of mosquitto_plugin_version and, if that was
  // 5, the code of its init function.
  struct Started {
    int version = 0;
    int code = 0;
  };
  Started load(const std::string& module, std::vector<int> versions = {5, 4, 3, 2});
  // Stops the module and unloads it.
  void unload();

  // Publishes a message of the client. Returns what remains of it for subscribers; nothing if a
  // callback refused it.
  std::optional<ModelMessage> publish(const ModelMessage& message);
  void tick();
  // Ends the connection, and reports that with `event`.
  void end_connection(int event = MOSQ_EVT_DISCONNECT);

  // The messages that the plugin has published since the last call, in order.
  std::vector<ModelMessage> answers();
  // The lines that the plugin has logged.
  const std::vector<std::string>& log() const { return log_; }
  // One sentence for each free of memory that was not allocated.
  const std::vector<std::string>& faults() const { return faults_; }
  // The number of allocations that were not freed.
  std::size_t live() const;

  // The broker's side of the functions that plugins call.
  void* allocate(std::size_t size);
  void release(void* memory);
  mosquitto_property* append(mosquitto_property* list, const Property& property);
  void free_list(mosquitto_property* list);
  int register_callback(int event, MOSQ_FUNC_generic_callback callback);
  int unregister_callback(int event, MOSQ_FUNC_generic_callback callback);
  int take_answer(const char* topic, std::string_view payload, void* memory,
                  mosquitto_property* properties);
  void add_line(std::string line) { log_.push_back(std::move(line)); }

 private:
  struct Callback {
    int event;
    MOSQ_FUNC_generic_callback function;
  };
  int call(int event, void* data);
  std::vector<Property> read(const mosquitto_property* list) const;

  ModelOptions options_;
  void* module_ = nullptr;
  void* user_data_ = nullptr;
  std::vector<Callback> callbacks_;
  std::vector<ModelMessage> answers_;
  std::vector<std::string> log_;
  std::vector<std::string> faults_;
};

}  // namespace sheaf::test
