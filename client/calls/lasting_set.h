#pragma once

// A set that Client has not: of a value that never expires, whatever the cluster's `default_ttl`.
//
// Thread rule: any thread.

#include <string_view>

#include <sheaf/client.h>

namespace sheaf::client::calls {

// As Client::set. The time to live in `options` does not count.
Result<SetResult> set_lasting(Client& client, std::string_view key, std::string_view value,
                              const SetOptions& options);

}  // namespace sheaf::client::calls
