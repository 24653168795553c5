#pragma once

// The properties of MQTT 5 packets (section 2.2.2). Parsing checks the whole block; values are
// views into it. Writing appends in call order, so that any order used by a peer can be reproduced.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/byte_writer.h"
#include "protocol/mqtt5/frame.h"
#include "protocol/mqtt5/reason_code.h"

namespace sheaf::protocol::mqtt5 {

class Cursor;

enum class PropertyId : std::uint8_t {
  payload_format = 1,
  message_expiry = 2,
  content_type = 3,
  response_topic = 8,
  correlation_data = 9,
  subscription_identifier = 11,
  session_expiry = 17,
  assigned_client_id = 18,
  server_keep_alive = 19,
  authentication_method = 21,
  authentication_data = 22,
  request_problem_information = 23,
  will_delay = 24,
  request_response_information = 25,
  response_information = 26,
  server_reference = 28,
  reason_string = 31,
  receive_maximum = 33,
  topic_alias_maximum = 34,
  topic_alias = 35,
  maximum_qos = 36,
  retain_available = 37,
  user_property = 38,
  maximum_packet_size = 39,
  wildcard_subscription_available = 40,
  subscription_identifier_available = 41,
  shared_subscription_available = 42
};

struct UserProperty {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const UserProperty&, const UserProperty&) = default;
};

// The user properties of a checked block, found while iterating, without an allocation.
class UserProperties {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = UserProperty;
    using difference_type = std::ptrdiff_t;
    using pointer = const UserProperty*;
    using reference = const UserProperty&;

    Iterator() = default;  // the end
    explicit Iterator(std::string_view raw) noexcept : rest_(raw), end_(false) { ++*this; }
    reference operator*() const noexcept { return current_; }
    pointer operator->() const noexcept { return &current_; }
    Iterator& operator++() noexcept;
    void operator++(int) noexcept { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
      return a.end_ == b.end_ && (a.end_ || a.rest_.data() == b.rest_.data());
    }

   private:
    std::string_view rest_;
    UserProperty current_;
    bool end_ = true;
  };

  explicit UserProperties(std::string_view raw) noexcept : raw_(raw) {}
  Iterator begin() const noexcept { return Iterator(raw_); }
  Iterator end() const noexcept { return {}; }
  // The first property with that name.
  std::optional<std::string_view> find(std::string_view name) const noexcept;

 private:
  std::string_view raw_;
};

// To send, set only `raw` (written with a PropertyWriter): encode() ignores the other fields.
// Parsing fills in `raw` and the others.
struct Properties {
  std::string_view raw;  // the block without its length

  std::optional<std::uint8_t> payload_format;  // 0 or 1
  std::optional<std::uint32_t> message_expiry;
  std::optional<std::string_view> content_type;
  std::optional<std::string_view> response_topic;  // wildcards not checked (3.3.2.3.5)
  std::optional<std::string_view> correlation_data;
  std::optional<std::uint32_t> subscription_identifier;  // the first: a PUBLISH may have several
  std::optional<std::uint32_t> session_expiry;
  std::optional<std::string_view> assigned_client_id;
  std::optional<std::uint16_t> server_keep_alive;
  std::optional<std::string_view> authentication_method;
  std::optional<std::string_view> authentication_data;
  std::optional<bool> request_problem_information;
  std::optional<std::uint32_t> will_delay;
  std::optional<bool> request_response_information;
  std::optional<std::string_view> response_information;
  std::optional<std::string_view> server_reference;
  std::optional<std::string_view> reason_string;
  std::optional<std::uint16_t> receive_maximum;  // not 0
  std::optional<std::uint16_t> topic_alias_maximum;
  std::optional<std::uint16_t> topic_alias;  // not 0
  std::optional<std::uint8_t> maximum_qos;   // 0 or 1
  std::optional<bool> retain_available;
  std::optional<std::uint32_t> maximum_packet_size;  // not 0
  std::optional<bool> wildcard_subscription_available;
  std::optional<bool> subscription_identifier_available;
  std::optional<bool> shared_subscription_available;

  UserProperties user() const noexcept { return UserProperties(raw); }

  // Reads length and block. Refuses properties that section 2.2.2.2 does not allow in this packet,
  // duplicates, and values out of range. `parse_will` is for the will's block in CONNECT.
  static Properties parse(Cursor& in, PacketType packet) noexcept;
  static Properties parse_will(Cursor& in) noexcept;
  // Writes length and block.
  void encode(ByteWriter& out) const;
  std::size_t encoded_size() const noexcept;
};

// Appends properties in call order. The caller must use only those that the packet allows.
class PropertyWriter {
 public:
  explicit PropertyWriter(ByteWriter& out) noexcept : out_(out) {}

  void byte(PropertyId id, std::uint8_t value);
  void u16(PropertyId id, std::uint16_t value);
  void u32(PropertyId id, std::uint32_t value);
  void varint(PropertyId id, std::uint32_t value);
  void text(PropertyId id, std::string_view value);  // strings and binary data, <= 65,535 bytes
  void user(std::string_view name, std::string_view value);

  // Number of bytes that text() and user() append.
  static constexpr std::size_t text_size(std::string_view value) noexcept {
    return 3 + value.size();
  }
  static constexpr std::size_t user_size(std::string_view name, std::string_view value) noexcept {
    return 5 + name.size() + value.size();
  }

 private:
  ByteWriter& out_;
};

}  // namespace sheaf::protocol::mqtt5
