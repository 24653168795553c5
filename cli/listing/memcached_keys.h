#pragma once

// Lists the keys of memcached servers, one server after the other.
//
// Thread rule: one thread.

#include <sheaf/client.h>

#include "cli/listing/key_listener.h"
#include "protocol/login.h"

namespace sheaf::cli {

// `login`: for servers that require one; null: none.
void list_memcached_keys(Client& client, const protocol::Login* login, const KeyQuery& query,
                         KeyListener& listener);

}  // namespace sheaf::cli
