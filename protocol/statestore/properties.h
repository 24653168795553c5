#pragma once

// The user properties of requests and replies, as far as each end reads them. The caller walks over
// a packet's user properties and gives each to take(); the first of a name wins, unknown ones are
// ignored. Views live as long as the packet's bytes.
//
// Thread rule: plain values.
// Pure: no socket, clock, entropy, thread or callback.

#include <expected>
#include <optional>
#include <string_view>

#include "protocol/statestore/packets.h"

namespace sheaf::protocol::statestore {

namespace property {
inline constexpr std::string_view timestamp = "__ts";
inline constexpr std::string_view fencing_token = "__ft";
inline constexpr std::string_view persistence = "aio-persistence";  // of SET: "true", or absent
inline constexpr std::string_view protocol_version = "__protVer";
inline constexpr std::string_view source_id = "__srcId";
inline constexpr std::string_view invoker_id = "__invId";  // legacy name of __srcId
inline constexpr std::string_view partition = "$partition";
inline constexpr std::string_view high_priority = "$high_priority";  // empty value
inline constexpr std::string_view status = "__stat";
inline constexpr std::string_view status_message = "__stMsg";
}  // namespace property

inline constexpr std::string_view protocol_version = "1.0";
inline constexpr std::string_view content_type = "application/octet-stream";
inline constexpr std::string_view status_ok = "200";
inline constexpr std::string_view persistence_asked = "true";
inline constexpr std::string_view store_node =
    "StateStore";  // node of every version, __srcId of replies

// The properties of a request that a store reads.
struct RequestProperties {
  std::optional<std::string_view> timestamp{};
  std::optional<std::string_view> fencing_token{};
  std::optional<std::string_view> persistence{};

  void take(std::string_view name, std::string_view value) noexcept;
  // The value must be kept on the disk. Every text but "true" means the same as no property.
  bool persist() const noexcept { return persistence == persistence_asked; }
};

// The properties of a reply or a notification that a client reads.
struct ReplyProperties {
  std::optional<std::string_view> timestamp{};
  std::optional<std::string_view> status{};
  std::optional<std::string_view> status_message{};
  std::optional<std::string_view> protocol_version{};

  void take(std::string_view name, std::string_view value) noexcept;
  // Checks that the payload may be read. No status (the protocol page has none) and 204 mean
  // success, too; every other number is an error of the remote end. A status that is no number and
  // a protocol version other than 1.x are malformed. The text is the remote end's or a constant.
  std::expected<void, Fault> check() const noexcept;
};

}  // namespace sheaf::protocol::statestore
