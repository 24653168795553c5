#pragma once

// admit(): the one door into a client. Every call passes it before anything else happens.
//
// Thread rule: any thread.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/read_clocks.h"
#include "client/calls/checks.h"
#include "client/runtime/context.h"
#include "client/runtime/outcomes.h"

namespace sheaf::client::calls {

// When an admitted call began, until when it lasts, and whose it is to an observer.
struct Admission {
  Deadline started{0};
  Deadline deadline{0};
  std::shared_ptr<void> parent;
};

enum class Form : bool { asynchronous, blocking };

// Until when a caller waits who began to at `started`.
inline Deadline end_of(const Wait& wait, Deadline started) {
  using std::chrono::nanoseconds;
  return wait ? started + std::clamp<nanoseconds>(*wait, {}, longest_wait) : never;
}

// The first of the checks that found something.
template <class... Checks>
std::optional<Error> first_of(Checks&&... checks) {
  std::optional<Error> found;
  ((found ? void() : void(found = std::forward<Checks>(checks))), ...);
  return found;
}

// What a call that ends by its stop token has done, beside its requests: nothing.
inline Error cancelled_error() {
  return runtime::local_error(Outcome::not_sent, Reason::cancelled, {});
}

// The reason why a call cannot start: the client's, what the caller's own checks found (`wrong`),
// the timeout's, the stop token's; in that order.
inline Result<Admission> admit(const runtime::Context& context, Form form, const Timeout& timeout,
                               Stop stop, std::optional<Error> wrong) {
  Admission admission;
  admission.started = read_monotonic();
  if (auto error = context.refusal(form == Form::blocking)) return Failure(std::move(*error));
  if (wrong) return Failure(std::move(*wrong));
  if (auto error = check_timeout(timeout)) return Failure(std::move(*error));
  if (stop != nullptr && stop->stop_requested()) return Failure(cancelled_error());
  admission.deadline = context.deadline(admission.started, timeout);
  admission.parent = context.observed_parent();
  return admission;
}

}  // namespace sheaf::client::calls
