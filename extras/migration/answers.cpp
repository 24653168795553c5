// Pure: no socket, clock, entropy, thread or callback.

#include "extras/migration/answers.h"

#include <utility>

#include "base/local_error.h"
#include "extras/migration/stage_rules.h"

namespace sheaf::migration {
namespace {

bool is_placeholder(const GetResult& got) noexcept { return got && got->data == placeholder; }

Error unsupported() {
  return local_error(Outcome::unsupported, Reason::bad_argument,
                     "a cache that moves between two fleets takes no condition and no fencing "
                     "token");
}

}  // namespace

bool missing(const Result<GetResult>& got) noexcept {
  return !got || !*got || is_placeholder(*got);
}

void take_second(Result<GetResult>& got, Result<GetResult>&& second) {
  if (!got && missing(second)) return;
  got = std::move(second);
}

void take_nothing(Result<GetResult>& got) {
  if (!got) return;
  got = Failure(local_error(Outcome::unknown, Reason::timed_out,
                            "the deadline came before both fleets had answered"));
}

void finish(Result<GetResult>& got) {
  if (!got) return;
  if (is_placeholder(*got)) got->reset();
  if (*got) (*got)->version = {};
}

std::optional<Error> refusal_of(std::string_view value, const SetOptions& options) {
  if (options.condition != SetCondition::always || !options.fence.empty()) return unsupported();
  if (value != placeholder) return std::nullopt;
  return local_error(Outcome::invalid, Reason::bad_argument,
                     "the value is the placeholder of values that are being copied");
}

std::optional<Error> refusal_of(const RemoveOptions& options) {
  if (!options.if_value && !options.if_version && options.fence.empty()) return std::nullopt;
  return unsupported();
}

}  // namespace sheaf::migration
