#pragma once

// Lists the keys of state stores that answer questions about themselves, as sheaf's own do: a page
// of each, all at the same time.
//
// Thread rule: one thread.

#include <optional>
#include <string_view>

#include <sheaf/client.h>

#include "cli/listing/key_listener.h"

namespace sheaf::cli {

void list_store_keys(Client& client, const KeyQuery& query, KeyListener& listener);

// From the store that owns the key. Nothing: the key is absent.
Result<std::optional<TimeToLive>> store_time_left(Client& client, std::string_view key,
                                                  std::chrono::milliseconds timeout);

}  // namespace sheaf::cli
