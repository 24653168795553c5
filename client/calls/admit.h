#pragma once

// admit(): the one door into a client. Every call passes it before anything else happens.
//
// Thread rule: any thread.

#include <optional>
#include <utility>

#include "base/read_clocks.h"
#include "client/calls/checks.h"
#include "client/runtime/context.h"

namespace sheaf::client::calls {

// When an admitted call began, and until when it lasts.
struct Admission {
  Deadline started{0};
  Deadline deadline{0};
};

enum class Form : bool { asynchronous, blocking };

// The first of the checks that found something.
template <class... Checks>
std::optional<Error> first_of(Checks&&... checks) {
  std::optional<Error> found;
  ((found ? void() : void(found = std::forward<Checks>(checks))), ...);
  return found;
}

// The reason why a call cannot start: the client's, what the caller's own checks found (`wrong`),
// the timeout's; in that order.
inline Result<Admission> admit(const runtime::Context& context, Form form, const Timeout& timeout,
                               std::optional<Error> wrong) {
  Admission admission;
  admission.started = read_monotonic();
  if (auto error = context.refusal(form == Form::blocking)) return Failure(std::move(*error));
  if (wrong) return Failure(std::move(*wrong));
  if (auto error = check_timeout(timeout)) return Failure(std::move(*error));
  admission.deadline = context.deadline(admission.started, timeout);
  return admission;
}

}  // namespace sheaf::client::calls
