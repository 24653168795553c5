#include "cli/listing/store_keys.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/local_error.h"
#include "base/text.h"
#include "protocol/statestore/key_page.h"

namespace sheaf::cli {
namespace {

using protocol::statestore::KeyPage;
using std::chrono::seconds;

constexpr const char* page_of_store = "1000";  // records

class StoreKeys {
 public:
  StoreKeys(Client& client, const KeyQuery& query, KeyListener& listener)
      : client_(client), query_(query), listener_(listener) {}

  void list() {
    do {
      const std::string asked =
          std::string("keys ") + page_of_store + " " + cursors() + " " + query_.pattern;
      for (const NodeText& node : client_.server_stats(asked, {.timeout = query_.timeout})) {
        take(node);
      }
      listener_.page();
    } while (!listener_.enough() && !over());
  }

 private:
  // Where a store is in its list.
  struct Progress {
    std::string cursor;
    bool over = false;
  };

  // A store finds its own cursor among those of all.
  std::string cursors() const {
    std::string all;
    for (const auto& [node, progress] : progress_) {
      if (!progress.cursor.empty()) all.append(all.empty() ? "" : ",").append(progress.cursor);
    }
    return all.empty() ? "-" : all;
  }
  bool over() const {
    return std::ranges::all_of(progress_, [](const auto& each) { return each.second.over; });
  }

  void take(const NodeText& node) {
    Progress& progress = progress_[node.node];
    if (progress.over) return;
    if (!node.text) return fail(node.node, node.text.error());
    const auto page = KeyPage::parse(*node.text);
    if (!page) {
      return fail(node.node, local_error(Outcome::refused, Reason::protocol_error,
                                         node.node + " did not answer with a page of keys"));
    }
    progress = {page->next.text(), page->next.place == 0};
    for (const KeyPage::Entry& entry : page->entries) {
      if (listener_.enough()) return;
      TimeToLive ttl;
      if (entry.ttl) ttl = std::chrono::ceil<seconds>(*entry.ttl);
      listener_.take({entry.key, ttl, entry.size});
    }
  }
  void fail(const std::string& node, const Error& error) {
    progress_[node] = {{}, true};
    listener_.fail(node, error);
  }

  Client& client_;
  const KeyQuery& query_;
  KeyListener& listener_;
  std::map<std::string, Progress> progress_;  // by node
};

}  // namespace

void list_store_keys(Client& client, const KeyQuery& query, KeyListener& listener) {
  StoreKeys(client, query, listener).list();
}

Result<std::optional<TimeToLive>> store_time_left(Client& client, std::string_view key,
                                                  std::chrono::milliseconds timeout) {
  const auto owner = client.locate(key);
  if (!owner) return Failure(owner.error());
  for (const NodeText& node :
       client.server_stats("ttl " + std::string(key), {.timeout = timeout})) {
    if (node.node != owner->node) continue;
    if (!node.text) return Failure(node.text.error());
    if (*node.text == "absent") return std::optional<TimeToLive>();
    if (*node.text == "-") return std::optional<TimeToLive>(std::in_place);
    const auto left = parse_decimal(*node.text);
    if (!left) break;
    const std::chrono::milliseconds time(static_cast<std::int64_t>(*left));
    return std::optional<TimeToLive>(std::chrono::ceil<seconds>(time));
  }
  return Failure(local_error(Outcome::refused, Reason::protocol_error,
                             owner->node + " did not answer how long the key lives"));
}

}  // namespace sheaf::cli
