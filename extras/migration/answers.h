#pragma once

// What two fleets answered for one key, and what a MigratingCache cannot carry out.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>
#include <string_view>

#include <sheaf/options.h>
#include <sheaf/result.h>

namespace sheaf::migration {

// Of what the first fleet answered: the second is to be asked.
bool missing(const Result<GetResult>& got) noexcept;
// A miss is proven only if both fleets had none.
void take_second(Result<GetResult>& got, Result<GetResult>&& second);
// The time of the call is over: what was read may be of a stage that is.
void take_nothing(Result<GetResult>& got);
// What the caller gets: a placeholder is a miss, and versions mean nothing to the other fleet.
void finish(Result<GetResult>& got);

std::optional<Error> refusal_of(std::string_view value, const SetOptions& options);
std::optional<Error> refusal_of(const RemoveOptions& options);

}  // namespace sheaf::migration
