#include "cli/listing/memcached_keys.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/glob.h"
#include "base/local_error.h"
#include "base/text.h"
#include "cli/listing/key_dump.h"
#include "cli/show/stats_lines.h"

namespace sheaf::cli {
namespace {

using std::chrono::seconds;

seconds wall_clock() {
  return std::chrono::floor<seconds>(std::chrono::system_clock::now().time_since_epoch());
}

// How far the clock of each server is ahead of ours: the list has times of the server's clock.
std::map<std::string, seconds> clocks_ahead(Client& client, const KeyQuery& query) {
  std::map<std::string, seconds> ahead;
  for (const NodeText& server : client.server_stats({}, {.timeout = query.timeout})) {
    if (!server.text) continue;
    for_each_stat(*server.text, [&](std::string_view name, std::string_view value) {
      const auto time = name == "time" ? parse_decimal(value) : std::nullopt;
      if (time) ahead[server.node] = seconds(*time) - wall_clock();
    });
  }
  return ahead;
}

}  // namespace

void list_memcached_keys(Client& client, const protocol::Login* login, const KeyQuery& query,
                         KeyListener& listener) {
  constexpr std::uint64_t keys_of_page = 1'000;
  const auto ahead =
      query.columns.ttl ? clocks_ahead(client, query) : std::map<std::string, seconds>();
  for (const NodeConfig& node : client.config().nodes) {
    if (listener.enough()) return;
    const auto clock = ahead.find(node.identity());
    const seconds difference = clock == ahead.end() ? seconds(0) : clock->second;
    std::uint64_t taken = 0;
    const auto take = [&](const DumpedItem& item) {
      if (matches_glob(query.pattern, item.key)) {
        ListedKey key{item.key, {}, item.size};
        if (item.expiry) {
          key.ttl = std::max(seconds(*item.expiry) - difference - wall_clock(), seconds(0));
        }
        listener.take(key);
      }
      if (++taken % keys_of_page == 0) listener.page();
      return !listener.enough();
    };
    const auto listed = dump_keys({client.config(), node, login}, query.timeout, take);
    listener.page();
    if (!listed) {
      listener.fail(node.identity(), local_error(Outcome::refused, Reason::other, listed.error()));
    }
  }
}

}  // namespace sheaf::cli
