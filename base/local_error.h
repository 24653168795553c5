#pragma once

// An error that sheaf raises itself: nothing was sent, and no node took part.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <utility>

#include <sheaf/result.h>

namespace sheaf {

inline Error local_error(Outcome outcome, Reason reason, std::string text) {
  Error error;
  error.outcome = outcome;
  error.reason = reason;
  error.text = std::move(text);
  return error;
}

}  // namespace sheaf
