#pragma once

// How values are carried from one fleet to the other while programs write: see copy_for_migration
// in sheaf/migration.h.
//
// Thread rule: any thread.

#include <string_view>

#include <sheaf/migration.h>

namespace sheaf::client::migration {

// As copy_for_migration; then, if `to` has the value, `from` loses its own.
Result<Copied> move_value(Client& from, Client& to, std::string_view key, Timeout timeout);

// Removes the value of `copies` if it is not the one of `present`. With `absent_counts` also if
// `present` has none. True: it was removed. Nobody may copy into `copies` meanwhile.
Result<bool> drop_if_stale(Client& present, Client& copies, std::string_view key,
                           bool absent_counts, Timeout timeout);

}  // namespace sheaf::client::migration
