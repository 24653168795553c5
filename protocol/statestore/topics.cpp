// Pure: no socket, clock, entropy, thread or callback.

#include "protocol/statestore/topics.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace sheaf::protocol::statestore {
namespace {

constexpr std::string_view clients_root = "clients/";
constexpr std::string_view notify_levels = "/command/notify/";

}  // namespace

std::string response_topic(ResponseTopicForm form, std::string_view client_id) {
  std::string topic(clients_root);
  if (form == ResponseTopicForm::go) {
    hex_append(topic, client_id);
  } else {
    topic.append(client_id);
  }
  topic.push_back('/');
  switch (form) {
    case ResponseTopicForm::page:
      return topic.append("services/statestore/_any_/command/invoke/response");
    case ResponseTopicForm::rust:
      return topic.append("services/").append(request_topic).append("/response");
    case ResponseTopicForm::dotnet:
      return topic.append(request_topic);
    case ResponseTopicForm::go:
      return topic.append(request_topic).append("/response");
  }
  return topic;
}

std::string notification_topic(std::string_view client_id, std::string_view key) {
  std::string topic;
  append_notification_topic(topic, client_id, key);
  return topic;
}

void append_notification_topic(std::string& out, std::string_view client_id, std::string_view key) {
  out.append(notification_root);
  out.push_back('/');
  hex_append(out, client_id);
  out.append(notify_levels);
  hex_append(out, key);
}

std::string notification_filter(std::string_view client_id) {
  return notification_topic(client_id, {}).append("+");
}

std::optional<NotificationTopic> parse_notification_topic(std::string_view topic) {
  if (!topic.starts_with(notification_root)) return std::nullopt;
  topic.remove_prefix(notification_root.size());
  if (!topic.starts_with('/')) return std::nullopt;
  topic.remove_prefix(1);
  const std::size_t end = topic.find('/');
  if (end == std::string_view::npos || !topic.substr(end).starts_with(notify_levels))
    return std::nullopt;
  auto client_id = hex_decode(topic.substr(0, end));
  auto key = hex_decode(topic.substr(end + notify_levels.size()));
  if (!client_id || !key || client_id->empty() || key->empty()) return std::nullopt;
  return NotificationTopic{std::move(*client_id), std::move(*key)};
}

std::size_t max_watched_key_size(std::size_t client_id_size) noexcept {
  constexpr std::size_t both =
      (max_topic_size - notification_root.size() - 1 - notify_levels.size()) / 2;
  return client_id_size < both ? both - client_id_size : 0;
}

bool has_wildcard(std::string_view topic) noexcept {
  // A plain loop: find_first_of() of two characters is a library call for each byte.
  return std::ranges::any_of(topic, [](char c) { return c == '+' || c == '#'; });
}

bool in_notification_tree(std::string_view topic) noexcept {
  return topic.starts_with(notification_root);
}

bool response_topic_allowed(std::string_view topic) noexcept {
  if (topic.empty() || topic.size() > max_topic_size) return false;
  if (has_wildcard(topic) || topic.find('\0') != std::string_view::npos) return false;
  if (topic == request_topic || topic == inspection_topic) return false;
  return !in_notification_tree(topic) && is_utf8(topic);
}

bool is_own_response_topic(std::string_view topic, std::string_view client_id) {
  if (client_id.empty() || !topic.starts_with(clients_root)) return false;
  topic.remove_prefix(clients_root.size());
  if (topic.starts_with(client_id) && topic.substr(client_id.size()).starts_with('/')) return true;
  const std::size_t end = topic.find('/');
  if (end == std::string_view::npos || end != 2 * client_id.size()) return false;
  const auto decoded = hex_decode(topic.substr(0, end));
  return decoded && *decoded == client_id;
}

}  // namespace sheaf::protocol::statestore
