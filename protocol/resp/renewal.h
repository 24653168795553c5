#pragma once

// Renewal: logs in anew on a connection that is ready, when there is another login.
//
// | state | input                          | then                                   | next  |
// |-------|--------------------------------|----------------------------------------|-------|
// | idle  | renew(), the login is stale    | AUTH goes behind what is queued        | asked |
// | idle  | renew(), and it is not         |                                        | idle  |
// | asked | renew()                        |                                        | asked |
// | asked | OK, the login is the present   |                                        | idle  |
// | asked | any answer, and it is stale    | AUTH with the present one              | asked |
// | asked | an error                       | the connection is to end               | idle  |
// | asked | a reply of another type        | the protocol is broken                 | idle  |
//
// AUTH is a request of the session's own, in order. Others may follow it at once: until it is
// granted, and if it is refused, the server carries them out under the login before. A transaction
// that is open keeps AUTH back behind its end, as it does with everything else (changes.h).
//
// Thread rule: one thread at a time.
// Pure: no socket, clock, entropy, thread or callback.

#include <optional>

#include "protocol/login.h"
#include "protocol/resp/changes/request_queue.h"
#include "protocol/resp/wire/command_writer.h"
#include "protocol/resp/wire/reply_tree.h"

namespace sheaf::protocol::resp {

class Renewal {
 public:
  // All outlive it.
  Renewal(UsedLogin& login, RequestQueue& queue, OutputQueue& output) noexcept
      : login_(login), queue_(queue), commands_(output) {}

  // May throw std::bad_alloc; then the connection is to end.
  void renew();
  // The reply to AUTH: why the connection ends, or nothing. May throw std::bad_alloc.
  std::optional<CloseReason> on_reply(const Value& reply);

 private:
  UsedLogin& login_;
  RequestQueue& queue_;
  CommandWriter commands_;
  bool asked_ = false;
};

}  // namespace sheaf::protocol::resp
