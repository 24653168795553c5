#include "store/plugin/properties.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

namespace sheaf::store::plugin {
namespace {

// Mosquitto's struct mqtt5__property, up to its identifier.
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
  Text name;  // for a user property
  std::int32_t identifier;
};

const Node* node_of(const mosquitto_property* property) {
  return reinterpret_cast<const Node*>(property);
}

// An empty text may have no memory of its own.
std::string_view view(const Text& text) {
  return text.size == 0 ? std::string_view("") : std::string_view(text.data, text.size);
}

bool has_text(const Node& node) {
  switch (node.identifier) {
    case MQTT_PROP_CONTENT_TYPE:
    case MQTT_PROP_RESPONSE_TOPIC:
    case MQTT_PROP_CORRELATION_DATA:
    case MQTT_PROP_USER_PROPERTY:
      return true;
    default:
      return false;  // numbers, in a PUBLISH
  }
}

void empty(Text& text) {
  if (text.size == 0) return;
  std::memset(text.data, 0, text.size);
  text.size = 0;
}

// True if a node has the contents that the list was given. It follows a pointer only after the size
// next to the pointer was right.
bool is(const Node* node, int identifier, std::string_view value, std::string_view name = {}) {
  return node != nullptr && node->identifier == identifier &&
         node->value.text.size == value.size() && node->name.size == name.size() &&
         node->value.text.data != nullptr &&
         std::memcmp(node->value.text.data, value.data(), value.size()) == 0 &&
         (name.empty() || (node->name.data != nullptr &&
                           std::memcmp(node->name.data, name.data(), name.size()) == 0));
}

void require(int code) {
  if (code == MOSQ_ERR_SUCCESS) return;
  if (code == MOSQ_ERR_NOMEM) throw std::bad_alloc();
  throw std::runtime_error("the broker refused a property with error " + std::to_string(code));
}

}  // namespace

std::optional<std::string> property_form_fault() {
  using namespace std::string_view_literals;
  PropertyList list;
  list.add_correlation("\0\xFF binary"sv);
  list.add_response_topic("a/topic");
  list.add_user("name", "its value");
  const Node* const first = node_of(list.get());
  // The last condition is read only after the others have shown that `next` is where this file
  // assumes it.
  if (is(first, MQTT_PROP_CORRELATION_DATA, "\0\xFF binary"sv) &&
      is(first->next, MQTT_PROP_RESPONSE_TOPIC, "a/topic") &&
      is(first->next->next, MQTT_PROP_USER_PROPERTY, "its value", "name") &&
      first->next->next->next == nullptr) {
    return std::nullopt;
  }
  return std::string(
             "this broker keeps MQTT properties in a form that this version does not support") +
         needed_broker;
}

RequestProperties::RequestProperties(const mosquitto_property* properties) {
  for (const Node* node = node_of(properties); node != nullptr; node = node->next) {
    switch (node->identifier) {
      case MQTT_PROP_RESPONSE_TOPIC:
        response_topic = view(node->value.text);
        break;
      case MQTT_PROP_CORRELATION_DATA:
        correlation = view(node->value.text);
        break;
      case MQTT_PROP_USER_PROPERTY:
        take(view(node->name), view(node->value.text));
        break;
      default:
        break;
    }
  }
}

void empty_properties(mosquitto_property* properties) {
  if (properties == nullptr) return;
  Node& first = *reinterpret_cast<Node*>(properties);
  auto* rest = reinterpret_cast<mosquitto_property*>(first.next);
  first.next = nullptr;
  mosquitto_property_free_all(&rest);
  if (!has_text(first)) return;
  empty(first.value.text);
  if (first.identifier == MQTT_PROP_USER_PROPERTY) empty(first.name);
}

void PropertyList::add_text(int identifier, std::string_view text) {
  value_ = text;
  require(mosquitto_property_add_string(&head_, identifier, value_.c_str()));
}

void PropertyList::add_content_type(std::string_view type) {
  add_text(MQTT_PROP_CONTENT_TYPE, type);
}

void PropertyList::add_response_topic(std::string_view topic) {
  add_text(MQTT_PROP_RESPONSE_TOPIC, topic);
}

void PropertyList::add_correlation(std::string_view data) {
  require(mosquitto_property_add_binary(&head_, MQTT_PROP_CORRELATION_DATA, data.data(),
                                        static_cast<std::uint16_t>(data.size())));
}

void PropertyList::add_user(std::string_view name, std::string_view value) {
  name_ = name;
  value_ = value;
  require(mosquitto_property_add_string_pair(&head_, MQTT_PROP_USER_PROPERTY, name_.c_str(),
                                             value_.c_str()));
}

}  // namespace sheaf::store::plugin
