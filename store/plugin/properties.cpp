#include "store/plugin/properties.h"

#include <mqtt_protocol.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "protocol/statestore/properties.h"

namespace sheaf::store::plugin {
namespace {

void require(int code) {
  if (code == MOSQ_ERR_SUCCESS) return;
  if (code == MOSQ_ERR_NOMEM) throw std::bad_alloc();
  throw std::runtime_error(mosquitto_strerror(code));
}

// A property that is there reads as null only when memory is exhausted. Going on without it could
// execute a fenced write without its fence.
template <class T>
T* copied(T* value) {
  if (value == nullptr) throw std::bad_alloc();
  return value;
}

}  // namespace

RequestProperties::RequestProperties(const mosquitto_property* properties) {
  for (const mosquitto_property* at = properties; at != nullptr; at = mosquitto_property_next(at)) {
    switch (mosquitto_property_identifier(at)) {
      case MQTT_PROP_RESPONSE_TOPIC: {
        char* value = nullptr;
        mosquitto_property_read_string(at, MQTT_PROP_RESPONSE_TOPIC, &value, false);
        response_topic.reset(copied(value));
        break;
      }
      case MQTT_PROP_CORRELATION_DATA: {
        void* value = nullptr;
        mosquitto_property_read_binary(at, MQTT_PROP_CORRELATION_DATA, &value, &correlation_size,
                                       false);
        correlation.reset(copied(value));
        break;
      }
      case MQTT_PROP_USER_PROPERTY:
        read_user_property(at);
        break;
      default:
        break;
    }
  }
}

void RequestProperties::read_user_property(const mosquitto_property* property) {
  char* raw_name = nullptr;
  char* raw_value = nullptr;
  mosquitto_property_read_string_pair(property, MQTT_PROP_USER_PROPERTY, &raw_name, &raw_value,
                                      false);
  const CText name(copied(raw_name));
  CText value(copied(raw_value));
  const std::string_view known(name.get());
  if (known == protocol::statestore::property::timestamp) {
    if (!timestamp) timestamp = std::move(value);
  } else if (known == protocol::statestore::property::fencing_token) {
    if (!fencing_token) fencing_token = std::move(value);
  }
}

std::optional<std::string_view> RequestProperties::correlation_view() const {
  if (!correlation) return std::nullopt;
  return std::string_view(static_cast<const char*>(correlation.get()), correlation_size);
}

std::optional<std::string_view> RequestProperties::view(const CText& text) {
  if (!text) return std::nullopt;
  return std::string_view(text.get());
}

void PropertyList::add_content_type(std::string_view type) {
  value_ = type;
  require(mosquitto_property_add_string(&head_, MQTT_PROP_CONTENT_TYPE, value_.c_str()));
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
