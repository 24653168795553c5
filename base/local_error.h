#pragma once

// An error that sheaf raises itself: nothing was sent, and no node took part.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <string>
#include <system_error>
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

// For a thread or a descriptor that the system refused.
inline Error no_thread(const std::system_error& error) {
  return local_error(Outcome::overloaded, Reason::other,
                     std::string("cannot start a thread: ") + error.what());
}

}  // namespace sheaf
