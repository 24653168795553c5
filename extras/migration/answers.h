#pragma once

// What two fleets answered for one key, and what a MigratingCache cannot do.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string_view>

#include <sheaf/options.h>
#include <sheaf/result.h>

namespace sheaf::migration {

// True if, after this answer of the first fleet, the second must be asked.
bool missing(const Result<GetResult>& got) noexcept;
// A miss is proven only if neither fleet had the key.
void take_second(Result<GetResult>& got, Result<GetResult>&& second);
// The time of the call is over: the stage in which it read may be, too.
void take_nothing(Result<GetResult>& got);
// Makes the caller's result: a placeholder is a miss, and versions mean nothing to the other fleet.
void finish(Result<GetResult>& got);

std::optional<Error> refusal_of(std::string_view value, const SetOptions& options);
std::optional<Error> refusal_of(const RemoveOptions& options);

}  // namespace sheaf::migration
