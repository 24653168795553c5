#pragma once

// MQTT 5 properties as mosquitto passes them to a plugin and takes them from it.
//
// Thread rule: the broker's one thread.

#include <mosquitto.h>
#include <mosquitto_broker.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::store::plugin {

// mosquitto_property_read_* returns copies made with malloc (not with the broker's own counted
// allocator), which the caller frees.
struct Freed {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using CText = std::unique_ptr<char, Freed>;

// What the store reads of a request. A property that is absent is null.
struct RequestProperties {
  explicit RequestProperties(const mosquitto_property* properties);

  std::optional<std::string_view> correlation_view() const;
  static std::optional<std::string_view> view(const CText& text);

  CText response_topic;
  CText timestamp;      // user property __ts, the first
  CText fencing_token;  // user property __ft, the first
  std::unique_ptr<void, Freed> correlation;
  std::uint16_t correlation_size = 0;

 private:
  void read_user_property(const mosquitto_property* property);
};

// A property list under construction. A successful publish hands it over to the broker.
class PropertyList {
 public:
  PropertyList() = default;
  ~PropertyList() { mosquitto_property_free_all(&head_); }
  PropertyList(const PropertyList&) = delete;
  PropertyList& operator=(const PropertyList&) = delete;

  // Each throws std::bad_alloc when the broker has no memory.
  void add_content_type(std::string_view type);
  void add_correlation(std::string_view data);
  void add_user(std::string_view name, std::string_view value);

  mosquitto_property* get() const { return head_; }
  void release() { head_ = nullptr; }

 private:
  mosquitto_property* head_ = nullptr;
  std::string name_;  // the broker wants texts with a NUL at the end
  std::string value_;
};

}  // namespace sheaf::store::plugin
