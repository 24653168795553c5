#pragma once

// Converts completions from below to results: the one place where outcomes become visible.
//
// Pure: no socket, clock, entropy, thread or callback.

#include <sheaf/options.h>

#include "base/local_error.h"
#include "socket/completion.h"

namespace sheaf::client::runtime {

struct GetOp {
  using Out = Result<GetResult>;
  static Out convert(const socket::Completion& completion, Deadline started);
  // For a reply that is not a refusal.
  static GetResult convert(const protocol::Reply& reply);
};
struct SetOp {
  using Out = Result<SetResult>;
  static Out convert(const socket::Completion& completion, Deadline started);
};
struct RemoveOp {
  using Out = Result<RemoveResult>;
  static Out convert(const socket::Completion& completion, Deadline started);
  // For a reply that is not a refusal.
  static RemoveResult convert(const protocol::Reply& reply);
};

// append, prepend, touch: true if the key existed.
struct DoneOp {
  using Out = Result<bool>;
  static Out convert(const socket::Completion& completion, Deadline started);
};
struct CountOp {
  using Out = Result<CountResult>;
  static Out convert(const socket::Completion& completion, Deadline started);
};

Error make_error(const socket::Completion& completion, Deadline started);
using sheaf::local_error;
using sheaf::no_thread;

}  // namespace sheaf::client::runtime
