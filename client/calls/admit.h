#pragma once

// admit(): the only entrance to a client. Every call passes it before anything else happens.
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

// When an admitted call began, when it must end, and its parent for an observer.
struct Admission {
  Deadline started{0};
  Deadline deadline{0};
  std::shared_ptr<void> parent;
};

enum class Form : bool { asynchronous, blocking };

// The end of a wait that began at `started`.
inline Deadline end_of(const Wait& wait, Deadline started) {
  using std::chrono::nanoseconds;
  return wait ? started + std::clamp<nanoseconds>(*wait, {}, longest_wait) : never;
}

// Returns the first error that one of the checks found.
template <class... Checks>
std::optional<Error> first_of(Checks&&... checks) {
  std::optional<Error> found;
  ((found ? void() : void(found = std::forward<Checks>(checks))), ...);
  return found;
}

// The error of a call that its stop token ended while none of its requests was in flight.
inline Error cancelled_error() {
  return runtime::local_error(Outcome::not_sent, Reason::cancelled, {});
}

// Admits a call, or returns the reason that it cannot start. In this order: the client refuses, the
// caller's own checks found an error (`wrong`), the timeout is wrong, the stop token was stopped.
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
