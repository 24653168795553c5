// Topics and topic filters of MQTT, and topics of the state store.

#include "protocol/statestore/topics.h"

#include <algorithm>
#include <span>

#include "store/server/topic_filter.h"
#include "tests/fuzz/fuzz.h"

namespace sheaf::fuzz {
namespace {

namespace statestore = protocol::statestore;

std::vector<std::string_view> levels_of(std::string_view text) {
  std::vector<std::string_view> levels;
  for (;;) {
    const std::size_t slash = text.find('/');
    levels.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return levels;
    text.remove_prefix(slash + 1);
  }
}

// Section 4.7 again, level by level with recursion.
bool naive_match(std::span<const std::string_view> filter,
                 std::span<const std::string_view> topic) {
  if (filter.empty()) return topic.empty();
  if (filter[0] == "#") return true;
  if (topic.empty() || (filter[0] != "+" && filter[0] != topic[0])) return false;
  return naive_match(filter.subspan(1), topic.subspan(1));
}

void check_filter(std::string_view filter, std::string_view topic) {
  if (!store::server::valid_filter(filter)) return;
  const bool hidden = topic.starts_with('$') && (filter[0] == '+' || filter[0] == '#');
  expect(store::server::matches(filter, topic) ==
             (!hidden && naive_match(levels_of(filter), levels_of(topic))),
         "a filter matches what section 4.7 says");
}

void check_notification(std::string_view client, std::string_view key) {
  const std::string topic = statestore::notification_topic(client, key);
  expect(statestore::in_notification_tree(topic), "a notification topic lies in the tree");
  const auto parsed = statestore::parse_notification_topic(topic);
  const bool usable = !client.empty() && !key.empty();
  if (usable) {
    expect(parsed && parsed->client_id == client && parsed->key == key,
           "a notification topic parses to its client and key");
    expect(store::server::matches(statestore::notification_filter(client), topic),
           "the filter of a client matches its notifications");
  }
}

}  // namespace

void run(std::string_view bytes) {
  Input input(bytes);
  const std::string first(input.short_text());
  const std::string second(input.rest());
  check_filter(first, second);
  check_notification(first, second);
  if (const auto parsed = statestore::parse_notification_topic(second)) {
    const std::string again = statestore::notification_topic(parsed->client_id, parsed->key);
    expect(again.size() == second.size(), "a parsed topic has the size of its parts");
  }
  if (statestore::response_topic_allowed(second)) {
    expect(!statestore::has_wildcard(second) && !statestore::in_notification_tree(second) &&
               second != statestore::request_topic,
           "a response topic is a topic of its own");
  }
  static_cast<void>(statestore::is_own_response_topic(second, first));
}

std::vector<std::string> seeds() {
  using statestore::ResponseTopicForm;
  const std::string id = "client-id1";
  return {short_text("a/+/#") + "a/b/c",
          short_text("+/b") + "$SYS/b",
          short_text("#") + "a//b",
          short_text("a/#") + "a",
          short_text(id) + statestore::notification_topic(id, "SOMEKEY"),
          short_text(id) + statestore::response_topic(ResponseTopicForm::rust, id),
          short_text(id) + statestore::response_topic(ResponseTopicForm::go, id),
          short_text(id) + std::string(statestore::request_topic)};
}

}  // namespace sheaf::fuzz
