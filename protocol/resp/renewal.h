#pragma once

// Renewal: repeats the login on a connection that is ready, when there is another login.
//
// | state | input                          | then                                   | next  |
// |-------|--------------------------------|----------------------------------------|-------|
// | idle  | renew(), the login is stale    | AUTH is queued after the others        | asked |
// | idle  | renew(), the login is current  |                                        | idle  |
// | asked | renew()                        |                                        | asked |
// | asked | OK, the login is current       |                                        | idle  |
// | asked | any answer, and it is stale    | AUTH with the current one              | asked |
// | asked | an error                       | the connection must end                | idle  |
// | asked | a reply of another type        | the protocol is broken                 | idle  |
//
// AUTH is a request of the session's own, in order. Other requests may follow it at once: the
// server executes them under the previous login until AUTH is granted, and if it is refused. An
// open transaction holds AUTH back until its own end, as it does everything else (changes.h).
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
  // All outlive this object.
  Renewal(UsedLogin& login, RequestQueue& queue, OutputQueue& output) noexcept
      : login_(login), queue_(queue), commands_(output) {}

  // May throw std::bad_alloc; then the connection must end.
  void renew();
  // Handles the reply to AUTH. Returns why the connection must end, if so. May throw
  // std::bad_alloc.
  std::optional<CloseReason> on_reply(const Value& reply);

 private:
  UsedLogin& login_;
  RequestQueue& queue_;
  CommandWriter commands_;
  bool asked_ = false;
};

}  // namespace sheaf::protocol::resp
