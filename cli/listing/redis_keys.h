#pragma once

// Lists the keys of servers of the Redis protocol, by SCAN of one server after the other.
//
// Thread rule: one thread.

#include <optional>

#include <sheaf/client.h>

#include "cli/listing/key_listener.h"

namespace sheaf::cli {

void list_redis_keys(Client& client, const KeyQuery& query, KeyListener& listener);

// From the answer to PTTL; nothing if the key is absent.
std::optional<TimeToLive> time_left(const CommandReply& pttl);

}  // namespace sheaf::cli
