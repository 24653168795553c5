#pragma once

// The topics of the state store: where requests go, where replies and notifications come from, and
// which response topics a store accepts.
//
// Thread rule: free functions.
// Pure: no socket, clock, entropy, thread or callback.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::protocol::statestore {

inline constexpr std::string_view request_topic =
    "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/command/invoke";
// Where clients ask a store about itself (inspection.h). Only sheaf's stores know it.
inline constexpr std::string_view inspection_topic =
    "statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8/sheaf/inspect";
// The root of all notification topics. No response topic may begin with it, and no client may
// publish there.
inline constexpr std::string_view notification_root =
    "clients/statestore/v1/FA9AE35F-2F64-47CD-9BFF-08E2B32A0FE8";
inline constexpr std::size_t max_topic_size = 65'535;  // MQTT 5 §1.5.4

// The forms of response topics that clients use. Only a convention: the store accepts any.
enum class ResponseTopicForm : std::uint8_t {
  page,    // clients/ID/services/statestore/_any_/command/invoke/response
  rust,    // clients/ID/services/REQUEST_TOPIC/response
  dotnet,  // clients/ID/REQUEST_TOPIC
  go       // clients/HEX(ID)/REQUEST_TOPIC/response: topic-safe whatever the client ID is
};
std::string response_topic(ResponseTopicForm form, std::string_view client_id);

// Root, HEX(client ID), "command", "notify", HEX(key): upper-case hex.
std::string notification_topic(std::string_view client_id, std::string_view key);
void append_notification_topic(std::string& out, std::string_view client_id, std::string_view key);
// The same for any key: `+` as the last level.
std::string notification_filter(std::string_view client_id);

struct NotificationTopic {
  std::string client_id;
  std::string key;
};
// Accepts hex of either case; nothing if this is no notification topic or a level does not decode.
std::optional<NotificationTopic> parse_notification_topic(std::string_view topic);

// The longest key whose notification topic still fits in a topic name; 0 if none does.
std::size_t max_watched_key_size(std::size_t client_id_size) noexcept;

bool has_wildcard(std::string_view topic) noexcept;
// True for the root itself, topics below it, and any other topic with that prefix.
bool in_notification_tree(std::string_view topic) noexcept;
// False for a topic that makes the store end the connection: not a topic name of MQTT 5 §4.7
// (empty, too long, wildcards, U+0000, not UTF-8), a topic of requests, or in the notification
// tree.
bool response_topic_allowed(std::string_view topic) noexcept;
// True for topics below clients/ID/ or clients/HEX(ID)/, hex of either case.
bool is_own_response_topic(std::string_view topic, std::string_view client_id);

}  // namespace sheaf::protocol::statestore
