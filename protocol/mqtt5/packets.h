#pragma once

// The packets of MQTT 5, one struct each: views into the bytes they were parsed from. The client
// session and the server session both use them.
//
// parse() takes a whole packet (`packet.size() == frame.total_size`, from read_frame). encode()
// appends a whole packet. To send properties, write them with a PropertyWriter and set
// `properties.raw`.
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
#include "protocol/mqtt5/properties.h"
#include "protocol/mqtt5/reason_code.h"

namespace sheaf::protocol::mqtt5 {

// Section 3.1. A protocol name or version other than MQTT 5 is refused with 0x84.
struct Connect {
  struct Will {
    std::uint8_t qos = 0;
    bool retain = false;
    Properties properties;
    std::string_view topic;
    std::string_view payload;
  };

  bool clean_start = true;
  std::uint16_t keep_alive = 0;  // seconds; 0 = off
  Properties properties;
  std::string_view client_id;
  std::optional<Will> will;
  std::optional<std::string_view> user;
  std::optional<std::string_view> password;

  static Parsed<Connect> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Section 3.2.
struct Connack {
  bool session_present = false;
  ReasonCode code = ReasonCode::success;
  Properties properties;

  static Parsed<Connack> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Section 3.3. QoS 2 is parsed so that it can be refused cleanly.
struct Publish {
  bool dup = false;
  std::uint8_t qos = 0;
  bool retain = false;
  std::string_view topic;       // empty only with a topic alias
  std::uint16_t packet_id = 0;  // QoS above 0 only
  Properties properties;
  std::string_view payload;  // after parse_head: the part of it that is buffered

  static Parsed<Publish> parse(const Frame& frame, std::string_view packet) noexcept;
  // Reads all but the payload, whose end may not have arrived; nothing = more bytes are needed.
  static Parsed<std::optional<Publish>> parse_head(const Frame& frame,
                                                   std::string_view buffered) noexcept;
  void encode(ByteWriter& out) const;

  // For writers that append properties and payload themselves: writes everything up to and
  // including the property length. Exactly these numbers of bytes must follow.
  void encode_head(ByteWriter& out, std::size_t properties_size, std::size_t payload_size) const;
  // The size of the packet that encode_head begins.
  std::size_t encoded_size(std::size_t properties_size, std::size_t payload_size) const noexcept;
};

// Section 3.4.
struct Puback {
  std::uint16_t packet_id = 0;
  ReasonCode code = ReasonCode::success;
  Properties properties;

  static Parsed<Puback> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Section 3.8.3.1.
struct Subscription {
  std::string_view filter;
  std::uint8_t qos = 0;
  bool no_local = false;
  bool retain_as_published = false;
  std::uint8_t retain_handling = 0;  // 0 .. 2
  friend bool operator==(const Subscription&, const Subscription&) = default;

  void encode(ByteWriter& out) const;
};

// The entries of a checked SUBSCRIBE (T = Subscription) or UNSUBSCRIBE (T = std::string_view).
template <class T>
class EntryList {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
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
    T current_{};
    bool end_ = true;
  };

  EntryList() = default;
  explicit EntryList(std::string_view raw) noexcept : raw_(raw) {}
  Iterator begin() const noexcept { return Iterator(raw_); }
  Iterator end() const noexcept { return {}; }
  std::string_view raw() const noexcept { return raw_; }

 private:
  std::string_view raw_;
};

template <>
EntryList<Subscription>::Iterator& EntryList<Subscription>::Iterator::operator++() noexcept;
template <>
EntryList<std::string_view>::Iterator& EntryList<std::string_view>::Iterator::operator++() noexcept;

// Section 3.8. To send, set `entries` to the bytes that Subscription::encode wrote.
struct Subscribe {
  std::uint16_t packet_id = 0;
  Properties properties;
  EntryList<Subscription> entries;  // at least one

  static Parsed<Subscribe> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Sections 3.9 and 3.11: one reason code (a byte of `codes`) for each entry of the request.
struct Suback {
  std::uint16_t packet_id = 0;
  Properties properties;
  std::string_view codes;

  ReasonCode code(std::size_t index) const noexcept {
    return static_cast<ReasonCode>(static_cast<std::uint8_t>(codes[index]));
  }
  static Parsed<Suback> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Section 3.10. To send, set `entries` to the bytes that encode_filter wrote.
struct Unsubscribe {
  std::uint16_t packet_id = 0;
  Properties properties;
  EntryList<std::string_view> entries;  // at least one

  static Parsed<Unsubscribe> parse(const Frame& frame, std::string_view packet) noexcept;
  static void encode_filter(ByteWriter& out, std::string_view filter);
  void encode(ByteWriter& out) const;
};

struct Unsuback {
  std::uint16_t packet_id = 0;
  Properties properties;
  std::string_view codes;

  ReasonCode code(std::size_t index) const noexcept {
    return static_cast<ReasonCode>(static_cast<std::uint8_t>(codes[index]));
  }
  static Parsed<Unsuback> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Sections 3.12 and 3.13.
struct Pingreq {
  static Parsed<Pingreq> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};
struct Pingresp {
  static Parsed<Pingresp> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Section 3.14.
struct Disconnect {
  ReasonCode code = ReasonCode::success;
  Properties properties;

  static Parsed<Disconnect> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

// Section 3.15.
struct Auth {
  ReasonCode code = ReasonCode::success;
  Properties properties;

  static Parsed<Auth> parse(const Frame& frame, std::string_view packet) noexcept;
  void encode(ByteWriter& out) const;
};

}  // namespace sheaf::protocol::mqtt5
