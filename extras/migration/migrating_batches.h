#pragma once

// get_many, set_many and remove_many of a MigratingCache: each step with all keys at once.
//
// Thread rule: any thread.

#include <span>
#include <string_view>
#include <vector>

#include "extras/migration/migrating_state.h"

namespace sheaf::migration {

std::vector<KeyResult<GetResult>> get_many(MigratingCache::State& state,
                                           std::span<const std::string_view> keys,
                                           const BatchOptions& options);
std::vector<KeyResult<SetResult>> set_many(MigratingCache::State& state,
                                           std::span<const SetItem> items,
                                           const BatchSetOptions& options);
std::vector<KeyResult<RemoveResult>> remove_many(MigratingCache::State& state,
                                                 std::span<const std::string_view> keys,
                                                 const BatchOptions& options);

}  // namespace sheaf::migration
