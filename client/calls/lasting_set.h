#pragma once

// A set that Client does not offer: its value never expires, whatever the cluster's `default_ttl`.
//
// Thread rule: any thread.

#include <string_view>

#include <sheaf/client.h>

namespace sheaf::client::calls {

// Like Client::set, but the time to live in `options` is ignored.
Result<SetResult> set_lasting(Client& client, std::string_view key, std::string_view value,
                              const SetOptions& options);

}  // namespace sheaf::client::calls
