#include "tests/store/plugin/model_broker.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

// A broker's own definition of the type that plugins see.
struct mosquitto {};

namespace sheaf::test {
namespace {

ModelBroker* current = nullptr;
std::set<void*> book;
::mosquitto client;

// The layout in Mosquitto.
struct Text {
  char* data;
  std::uint16_t size;
};
struct Node {
  Node* next;
  union {
    std::uint32_t number;
    Text text;
  } value;
  Text name;
  std::int32_t identifier;
  bool client_generated;
};
// A layout that no Mosquitto has.
struct OtherNode {
  std::int64_t identifier;
  std::uint64_t sizes[2];
  char* name;
  char* value;
  OtherNode* next;
};

Node* node_of(mosquitto_property* property) { return reinterpret_cast<Node*>(property); }
const Node* node_of(const mosquitto_property* property) {
  return reinterpret_cast<const Node*>(property);
}

bool is_number(int identifier) { return identifier == MQTT_PROP_PAYLOAD_FORMAT_INDICATOR; }

}  // namespace

ModelBroker::ModelBroker(ModelOptions options) : options_(options) {
  if (current != nullptr) throw std::logic_error("two brokers at a time");
  current = this;
  book.clear();
}

ModelBroker::~ModelBroker() {
  unload();
  for (void* const memory : book) std::free(memory);
  book.clear();
  current = nullptr;
}

ModelBroker::Started ModelBroker::load(const std::string& module, std::vector<int> versions) {
  module_ = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module_ == nullptr) throw std::runtime_error(dlerror());
  const auto version =
      reinterpret_cast<int (*)(int, const int*)>(dlsym(module_, "mosquitto_plugin_version"));
  Started started;
  started.version = version(static_cast<int>(versions.size()), versions.data());
  if (started.version != 5) return started;
  const auto init = reinterpret_cast<int (*)(mosquitto_plugin_id_t*, void**, mosquitto_opt*, int)>(
      dlsym(module_, "mosquitto_plugin_init"));
  static int identity = 0;
  std::vector<mosquitto_opt> options;
  for (auto& [name, value] : options_.plugin_options) {
    options.push_back({name.data(), value.data()});
  }
  started.code = init(reinterpret_cast<mosquitto_plugin_id_t*>(&identity), &user_data_,
                      options.data(), static_cast<int>(options.size()));
  return started;
}

void ModelBroker::unload() {
  if (module_ == nullptr) return;
  if (user_data_ != nullptr) {
    const auto cleanup = reinterpret_cast<int (*)(void*, mosquitto_opt*, int)>(
        dlsym(module_, "mosquitto_plugin_cleanup"));
    cleanup(std::exchange(user_data_, nullptr), nullptr, 0);
  }
  dlclose(std::exchange(module_, nullptr));
}

std::optional<ModelMessage> ModelBroker::publish(const ModelMessage& message) {
  const auto copy = [this](std::string_view text) {
    char* const memory = static_cast<char*>(allocate(text.size() + 1));
    text.copy(memory, text.size());
    memory[text.size()] = '\0';
    return memory;
  };
  char* topic = copy(message.topic);
  void* payload = message.payload.empty() ? nullptr : copy(message.payload);
  mosquitto_property* properties = nullptr;
  for (const Property& property : message.properties) properties = append(properties, property);

  mosquitto_evt_message event{};
  event.client = &client;
  event.topic = topic;
  event.payload = payload;
  event.payloadlen = static_cast<std::uint32_t>(message.payload.size());
  event.properties = properties;
  event.qos = message.qos;
  event.retain = message.retain;
  const int code = call(MOSQ_EVT_MESSAGE, &event);

  if (event.payload != payload) release(std::exchange(payload, event.payload));
  const bool frees = options_.replaced == Replaced::freed_by_broker;
  if (event.topic != topic) {
    char* const old = std::exchange(topic, event.topic);
    if (frees) release(old);
  }
  if (event.properties != properties) {
    mosquitto_property* const old = std::exchange(properties, event.properties);
    if (frees) free_list(old);
  }
  std::optional<ModelMessage> routed;
  if (code == MOSQ_ERR_SUCCESS) {
    routed = ModelMessage{topic,
                          {static_cast<const char*>(payload), event.payloadlen},
                          read(properties),
                          event.qos,
                          event.retain};
  }
  free_list(properties);
  release(payload);
  release(topic);
  return routed;
}

void ModelBroker::tick() {
  mosquitto_evt_tick event{};
  call(MOSQ_EVT_TICK, &event);
}

void ModelBroker::end_connection(int event) {
  mosquitto_evt_disconnect data{};
  data.client = &client;
  call(event, &data);
}

std::vector<ModelMessage> ModelBroker::answers() { return std::exchange(answers_, {}); }

std::size_t ModelBroker::live() const { return book.size(); }

void* ModelBroker::allocate(std::size_t size) {
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  book.insert(memory);
  return memory;
}

void ModelBroker::release(void* memory) {
  if (memory == nullptr) return;
  if (book.erase(memory) == 1) return std::free(memory);
  faults_.emplace_back("memory is freed that is not allocated, or no longer");
}

mosquitto_property* ModelBroker::append(mosquitto_property* list, const Property& property) {
  const auto copy = [this](std::string_view text) -> char* {
    if (text.empty() && options_.null_if_empty) return nullptr;
    char* const memory = static_cast<char*>(allocate(text.size() + 1));
    text.copy(memory, text.size());
    memory[text.size()] = '\0';
    return memory;
  };
  if (options_.other_form) {
    auto* const node = static_cast<OtherNode*>(allocate(sizeof(OtherNode)));
    *node = {property.identifier,
             {property.name.size(), property.value.size()},
             copy(property.name),
             copy(property.value),
             reinterpret_cast<OtherNode*>(list)};
    return reinterpret_cast<mosquitto_property*>(node);
  }
  auto* const node = static_cast<Node*>(allocate(sizeof(Node)));
  std::memset(node, 0, sizeof *node);
  node->identifier = property.identifier;
  if (is_number(property.identifier)) {
    node->value.number = static_cast<std::uint32_t>(std::stoul(property.value));
  } else {
    node->value.text = {copy(property.value), static_cast<std::uint16_t>(property.value.size())};
  }
  if (property.identifier == MQTT_PROP_USER_PROPERTY) {
    node->name = {copy(property.name), static_cast<std::uint16_t>(property.name.size())};
  }
  if (list == nullptr) return reinterpret_cast<mosquitto_property*>(node);
  Node* last = node_of(list);
  while (last->next != nullptr) last = last->next;
  last->next = node;
  return list;
}

void ModelBroker::free_list(mosquitto_property* list) {
  if (options_.other_form) {
    for (auto* node = reinterpret_cast<OtherNode*>(list); node != nullptr;) {
      OtherNode* const next = node->next;
      release(node->name);
      release(node->value);
      release(std::exchange(node, next));
    }
    return;
  }
  for (Node* node = node_of(list); node != nullptr;) {
    if (book.count(node) == 0) return release(node);
    Node* const next = node->next;
    release(node->name.data);
    if (!is_number(node->identifier)) release(node->value.text.data);
    release(std::exchange(node, next));
  }
}

std::vector<Property> ModelBroker::read(const mosquitto_property* list) const {
  std::vector<Property> all;
  const auto text = [](const Text& from) {
    return std::string(from.data ? from.data : "", from.size);
  };
  for (const Node* node = node_of(list); node != nullptr; node = node->next) {
    all.push_back(
        {node->identifier,
         is_number(node->identifier) ? std::to_string(node->value.number) : text(node->value.text),
         text(node->name)});
  }
  return all;
}

int ModelBroker::register_callback(int event, MOSQ_FUNC_generic_callback callback) {
  if (event == store::plugin::event_client_offline && !options_.offline_event) {
    return MOSQ_ERR_NOT_SUPPORTED;
  }
  callbacks_.push_back({event, callback});
  return MOSQ_ERR_SUCCESS;
}

int ModelBroker::unregister_callback(int event, MOSQ_FUNC_generic_callback callback) {
  return std::erase_if(callbacks_,
                       [&](const Callback& each) {
                         return each.event == event && each.function == callback;
                       }) == 0
             ? MOSQ_ERR_NOT_FOUND
             : MOSQ_ERR_SUCCESS;
}

int ModelBroker::call(int event, void* data) {
  for (const Callback& callback : std::vector(callbacks_)) {
    if (callback.event != event) continue;
    if (const int code = callback.function(event, data, nullptr); code != MOSQ_ERR_SUCCESS) {
      return code;
    }
  }
  return MOSQ_ERR_SUCCESS;
}

int ModelBroker::take_answer(const char* topic, std::string_view payload, void* memory,
                             mosquitto_property* properties) {
  answers_.push_back({topic, std::string(payload), read(properties), 1, false});
  release(memory);
  free_list(properties);
  return MOSQ_ERR_SUCCESS;
}

namespace {

int add(mosquitto_property** list, const Property& property) {
  *list = current->append(*list, property);
  return MOSQ_ERR_SUCCESS;
}

}  // namespace
}  // namespace sheaf::test

// The functions as the module finds them.
#define SHEAF_EXPORTED extern "C" __attribute__((visibility("default")))
using sheaf::test::current;

SHEAF_EXPORTED void* mosquitto_malloc(std::size_t size) { return current->allocate(size); }
SHEAF_EXPORTED void mosquitto_free(void* memory) { current->release(memory); }
SHEAF_EXPORTED const char* mosquitto_client_id(const mosquitto*) { return "client-id1"; }
SHEAF_EXPORTED const char* mosquitto_client_username(const mosquitto*) { return nullptr; }
SHEAF_EXPORTED int mosquitto_kick_client_by_clientid(const char*, bool) { return MOSQ_ERR_SUCCESS; }
SHEAF_EXPORTED const char* mosquitto_strerror(int) { return "an error"; }

SHEAF_EXPORTED void mosquitto_log_printf(int, const char* format, ...) {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  current->add_line(line);
}

SHEAF_EXPORTED int mosquitto_callback_register(mosquitto_plugin_id_t*, int event,
                                               MOSQ_FUNC_generic_callback callback, const void*,
                                               void*) {
  return current->register_callback(event, callback);
}
SHEAF_EXPORTED int mosquitto_callback_unregister(mosquitto_plugin_id_t*, int event,
                                                 MOSQ_FUNC_generic_callback callback, const void*) {
  return current->unregister_callback(event, callback);
}

SHEAF_EXPORTED int mosquitto_broker_publish(const char*, const char* topic, int size, void* payload,
                                            int, bool, mosquitto_property* properties) {
  return current->take_answer(topic,
                              {static_cast<const char*>(payload), static_cast<std::size_t>(size)},
                              payload, properties);
}

SHEAF_EXPORTED int mosquitto_property_add_binary(mosquitto_property** list, int identifier,
                                                 const void* value, std::uint16_t size) {
  return sheaf::test::add(list, {identifier, {static_cast<const char*>(value), size}, ""});
}
SHEAF_EXPORTED int mosquitto_property_add_string(mosquitto_property** list, int identifier,
                                                 const char* value) {
  return sheaf::test::add(list, {identifier, value, ""});
}
SHEAF_EXPORTED int mosquitto_property_add_string_pair(mosquitto_property** list, int identifier,
                                                      const char* name, const char* value) {
  return sheaf::test::add(list, {identifier, value, name});
}
SHEAF_EXPORTED void mosquitto_property_free_all(mosquitto_property** list) {
  current->free_list(std::exchange(*list, nullptr));
}
