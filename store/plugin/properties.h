#pragma once

// MQTT 5 properties as the broker passes them to a plugin and receives them from it.
//
// Brokers of 2.0.15 to 2.0.21 export no function that reads properties, and brokers differ in who
// frees a list that a callback replaces. So the plugin reads a list and empties it in place:
// nothing is copied, and nothing changes its owner. The layout of a list's nodes is internal to the
// broker. It has been the same in all releases from 2.0.0 to 2.1.2, and is checked against the
// running broker before the first request (docs/design/0042).
//
// Thread rule: the broker's one thread.

#include <optional>
#include <string>
#include <string_view>

#include "protocol/statestore/properties.h"
#include "store/plugin/broker_api.h"

namespace sheaf::store::plugin {

// Builds a list with the broker's own functions and compares each node with the layout that this
// file assumes. Returns one sentence if they differ; the plugin must not start then.
std::optional<std::string> property_form_fault();

// What the store reads from a request. An absent property is nothing, an empty one is "". The texts
// are in the event's list. They end with a NUL, except for the correlation data, and are gone after
// empty_properties().
struct RequestProperties : protocol::statestore::RequestProperties {
  explicit RequestProperties(const mosquitto_property* properties);

  std::optional<std::string_view> response_topic;
  std::optional<std::string_view> correlation;
};

// Removes all content from an event's list, in place. The first node stays, without content: the
// broker compares the pointer to it, and frees it with the message.
void empty_properties(mosquitto_property* properties);

// A property list under construction. A successful publish passes its ownership to the broker.
class PropertyList {
 public:
  PropertyList() = default;
  ~PropertyList() { mosquitto_property_free_all(&head_); }
  PropertyList(const PropertyList&) = delete;
  PropertyList& operator=(const PropertyList&) = delete;

  // Each throws std::bad_alloc if the broker has no memory.
  void add_content_type(std::string_view type);
  void add_response_topic(std::string_view topic);
  void add_correlation(std::string_view data);
  void add_user(std::string_view name, std::string_view value);

  mosquitto_property* get() const { return head_; }
  void release() { head_ = nullptr; }

 private:
  void add_text(int identifier, std::string_view text);

  mosquitto_property* head_ = nullptr;
  std::string name_;  // the broker expects texts that end with a NUL
  std::string value_;
};

}  // namespace sheaf::store::plugin
